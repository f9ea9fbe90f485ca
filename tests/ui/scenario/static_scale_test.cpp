#include <QLabel>
#include <QListWidget>
#include <QSettings>

#include "microscope/microscope_model.h"
#include "microscope/scale_table.h"
#include "pages/page_stack.h"
#include "skips/skip_list_view.h"
#include "skips/skips_model.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct StaticScale : WindowFixture {
    StaticScale() { QSettings().clear(); }
    ~StaticScale() override { QSettings().clear(); }

    void show(const QString& page) {
        part<PageStack>()->showPage(page);
        standsStill();
    }
    template <typename T>
    T* part() const {
        return window->findChild<T*>();
    }
};

/// A static scaler applies what overflows: no page may call that applied and finite, or skipped.
TEST_F(StaticScale, ThatOverflowsIsCalledThatOnEveryPage) {
    engine::RunConfig broken = engine::default_comparison();
    broken.dataset.train_limit = 640;
    broken.dataset.test_limit = 64;
    broken.batch_size = 32;
    broken.epochs = 1;  // 20 steps
    broken.instruments.histograms_every = 5;
    broken.scaler.init_scale = 0x1p40;
    broken.precision.preset = "amp-fp16";
    broken.precision.scaler = engine::ScalerMode::constant;
    broken.stop_on_nan = 0;
    settings.load(engine::completed(broken));
    commands.start();
    show(u"skips"_s);  // its list is built while the run is live
    auto* model = shownPage()->findChild<SkipsModel*>();
    ASSERT_TRUE(ends());
    ASSERT_TRUE(QTest::qWaitFor([&] { return model->skips().list.size() == 20; }, 300'000))
        << model->skips().list.size() << " of 20 bad steps";
    EXPECT_EQ(engine::group_skips(model->skips()).size(), 2U)
        << "the fault, and what follows from it";
    EXPECT_EQ(part<SkipListView>()->findChild<QListWidget*>()->count(), 2);
    EXPECT_EQ(model->step()->step, 1) << "the page opens where the fault began";
    link.select(1, feed.tracks()[0]);
    const auto says = [&](QWidget* page, const QString& words) {
        const auto labels = page->findChildren<QLabel*>();
        return std::ranges::any_of(
            labels, [&](const QLabel* label) { return label->text().contains(words); });
    };
    EXPECT_TRUE(says(panelBody(u"step"_s), u"The gradients overflowed, and the step was applied."_s));
    EXPECT_FALSE(says(panelBody(u"step"_s), u"All gradients were finite"_s));
    EXPECT_TRUE(says(panelBody(u"step"_s), u"Lower the static scale"_s));
    show(u"microscope"_s);
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return part<MicroscopeModel>()->sample().has_value(); }, 300'000));
    standsStill();
    EXPECT_FALSE(says(part<ScaleTable>(), u"skipped"_s));
}

}  // namespace
}  // namespace ui
