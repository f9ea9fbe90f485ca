#include "network/network_options.h"

#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSlider>
#include <QTest>
#include <QToolButton>

#include "network/network_model.h"
#include "theme/theme.h"

namespace ui {
namespace {

struct NetworkOptionsTest : testing::Test {
    NetworkModel model{{}, nullptr};
    Theme theme;
    NetworkOptions options{&theme, &model, nullptr};

    bool settles() {
        return QTest::qWaitFor([this] { return !model.isChecking() && model.now().text == model.text() && model.now().data.options == model.options(); }, 30'000);
    }
    template <typename Widget>
    Widget* find(const QString& name) const {
        for (auto* widget : options.findChildren<Widget*>())
            if (widget->accessibleName().startsWith(name)) return widget;
        return nullptr;
    }
};

TEST_F(NetworkOptionsTest, EachKindHasItsControlAndSetsTheNetworkNotTheText) {
    const QString text =
        u"option width = 16 in 4..512 \"Channels\"\n"
        "option depth = [2, 2] in 1..8\n"
        "option stem = cifar of cifar, imagenet\n"
        "option norm = true\n"
        "network(image):\n  Conv2d(width, 3)\n  Flatten\n  fc: Linear(outputs)\n"_s;
    model.setText(text);
    options.show();
    ASSERT_TRUE(settles());
    auto* width = find<QLineEdit>(u"width"_s);
    auto* slider = find<QSlider>(u"width"_s);
    ASSERT_TRUE(width != nullptr && slider != nullptr);
    EXPECT_EQ(width->text(), u"16"_s);
    EXPECT_EQ(find<QLineEdit>(u"depth"_s)->text(), u"2, 2"_s);
    width->setFocus();
    width->selectAll();
    QTest::keyClicks(width, u"32"_s);
    ASSERT_TRUE(settles());
    EXPECT_EQ(std::get<std::int64_t>(model.options().at("width")), 32);
    EXPECT_EQ(model.good().network.rows[0].shape.substr(0, 6), "N x 32");
    EXPECT_EQ(model.text(), text);
    QToolButton* back = nullptr;
    for (auto* button : options.findChildren<QToolButton*>())
        if (button->accessibleName().endsWith(u"width"_s)) back = button;
    ASSERT_NE(back, nullptr);
    EXPECT_FALSE(back->isHidden());
    back->click();
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model.options().empty());
    EXPECT_EQ(width->text(), u"16"_s);
    slider->setValue(slider->maximum());
    ASSERT_TRUE(settles());
    EXPECT_EQ(std::get<std::int64_t>(model.options().at("width")), 512);
    EXPECT_EQ(width->text(), u"512"_s);
}

TEST_F(NetworkOptionsTest, AValueOutOfRangeIsMarkedAndNotSet) {
    model.setText(u"option width = 16 in 4..512\nnetwork(image):\n  Conv2d(width, 3)\n  Flatten\n  fc: Linear(outputs)\n"_s);
    ASSERT_TRUE(settles());
    auto* width = find<QLineEdit>(u"width"_s);
    width->selectAll();
    QTest::keyClicks(width, u"3"_s);
    EXPECT_TRUE(width->property("refused").toBool());
    EXPECT_TRUE(model.options().empty());
    QTest::keyClicks(width, u"2"_s);
    EXPECT_FALSE(width->property("refused").toBool());
    EXPECT_EQ(std::get<std::int64_t>(model.options().at("width")), 32);
}

TEST(NetworkOptionSlider, IsLogarithmicOverAWideRange) {
    engine::OptionSpec spec{.name = "width", .label = "", .default_value = std::int64_t{64}, .help = "", .lowest = 8, .highest = 512};
    EXPECT_EQ(sliderPosition(spec, 64, 200), 100);
    EXPECT_EQ(sliderValue(spec, 100, 200), 64);
    EXPECT_EQ(sliderValue(spec, 0, 200), 8);
    EXPECT_EQ(sliderValue(spec, 200, 200), 512);
    spec.highest = 72;
    EXPECT_EQ(sliderPosition(spec, 40, 200), 100);
}

}  // namespace
}  // namespace ui
