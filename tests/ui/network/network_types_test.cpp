#include "network/network_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QActionGroup>
#include <QMenu>
#include <QTest>

#include "models/settings_model.h"
#include "network/network_model.h"

namespace ui {
namespace {

using testing::ElementsAre;

constexpr const char* net = "network(features):\n  fc1: Linear(8)\n  ReLU\n  fc2: Linear(8)\n  ReLU\n  out: Linear(outputs)\n";
const engine::NetworkData features{{{"features", {4}, {}}}, 3, {}};

struct Predicted {
    explicit Predicted(const std::string& preset, const engine::ForcedTypes& force = {})
        : network(engine::check_network(net, features)), types(predictTypes(net, network, features, {.preset = preset, .force = force})) {}
    engine::CheckedNetwork network;
    NetworkTypes types;
};

TEST(NetworkTypes, FollowThePresetAndForcedTypes) {
    EXPECT_THAT(Predicted("fp32").types.rows, ElementsAre("f32", "f32", "f32", "f32", "f32"));
    EXPECT_EQ(Predicted("amp-fp16").types.rows[0], "f16");
    const Predicted forced("amp-fp16", {{"fc2", engine::ForcedType::fp32}});
    EXPECT_EQ(forced.types.rows[2], "f32");
    EXPECT_EQ(forced.types.find(2)->rule, "forced");
    EXPECT_EQ(Predicted("amp-fp16", {{"of_another_network", engine::ForcedType::fp32}}).types.rows[2], "f16");
}

TEST(NetworkTypes, AKeyThatTheTextDoesNotHaveLeavesTheOthers) {
    const Predicted both("amp-fp16", {{"fc2", engine::ForcedType::fp32}, {"of_another_network", engine::ForcedType::fp32}});
    EXPECT_EQ(both.types.rows[2], "f32");
    EXPECT_THAT(both.types.unknown, ElementsAre("of_another_network"));
    EXPECT_TRUE(Predicted("amp-fp16", {{"fc2", engine::ForcedType::fp32}}).types.unknown.empty());
}

TEST(NetworkTypes, APresetThatWasSetCanBeGivenBackAndGivesWayToANewTrace) {
    NetworkModel model({}, nullptr);
    const std::string usual = model.preset();
    model.setPreset("pure-fp16");
    EXPECT_EQ(model.preset(), "pure-fp16");
    model.setPreset({});
    EXPECT_EQ(model.preset(), usual);
    model.setPreset("pure-fp16");
    model.setMeasured({{{"fc1", "linear", "bf16"}}, "amp-bf16", {}});
    EXPECT_EQ(model.preset(), "amp-bf16");
}

TEST(NetworkTypes, ALineThatIsComputedInANormSaysSo) {
    const std::string text = "network(image):\n  Conv2d(4, 3)\n  BatchNorm2d\n  ReLU\n  Flatten\n  Linear(outputs)\n";
    const engine::NetworkData image{{{"image", {3, 8, 8}, {}}}, 3, {}};
    const auto network = engine::check_network(text, image);
    const auto types = predictTypes(text, network, image, {.preset = "amp-fp16"});
    EXPECT_THAT(types.fused, ElementsAre(false, false, true, false, false));
    const std::string sum = "network(image):\n  stem: Conv2d(3, 3, padding=1)\n  BatchNorm2d\n  Add from stem, above\n  ReLU\n  Conv2d(3, 3)\n  ReLU\n  Flatten\n  Linear(outputs)\n";
    const auto added = engine::check_network(sum, image);
    EXPECT_THAT(predictTypes(sum, added, image, {.preset = "amp-fp16"}).fused, ElementsAre(false, false, true, true, false, false, false, false))
        << "a relu behind a convolution is its own";
}

TEST(NetworkTypes, ALineWithAModuleForcesItAndOneWithoutAllOfItsKindAroundIt) {
    const Predicted own("amp-fp16");
    EXPECT_EQ(forceTarget(own.types, own.network, 2).key, "fc2");
    EXPECT_EQ(forceTarget(own.types, own.network, 2).others, 0);
    const ForceTarget relu = forceTarget(own.types, own.network, 1);
    EXPECT_EQ(relu.key, "relu");
    EXPECT_EQ(relu.others, 1);
}

TEST(NetworkTypes, MeasuredOperationsAreMatchedByModuleAndOrder) {
    const Predicted own("amp-fp16");
    std::vector<MeasuredType> traced;
    for (const auto& op : own.types.operations) traced.push_back({op.module, op.op, op.module == "fc2" ? "f32" : op.type});
    auto rows = measuredByRow(own.types, traced);
    EXPECT_EQ(rows[0], own.types.rows[0]);
    EXPECT_EQ(rows[2], "f32");
    std::erase_if(traced, [](const auto& each) { return each.module == "out"; });
    rows = measuredByRow(own.types, traced);
    EXPECT_EQ(rows[4], "") << "the line is newer than the trace";
}

TEST(NetworkTypes, ATraceOfAnotherTextCountsForTheLinesThatBothHave) {
    NetworkModel model({}, nullptr);
    const auto settles = [&model] { return QTest::qWaitFor([&] { return !model.isChecking() && model.now().text == model.text(); }, 30'000); };
    model.setText(QString::fromLatin1(net));
    ASSERT_TRUE(settles());
    TracedStep step{{}, "amp-fp16", textLines(model.text())};
    for (const auto& op : model.now().types.operations) step.types.push_back({op.module, op.op, op.type});
    model.setMeasured(step);
    ASSERT_TRUE(settles());
    EXPECT_EQ(model.measured(), model.now().types.rows);
    // A layer more: relus are one more than were traced, so that it is not known which is which.
    model.replaceText(QString::fromLatin1(net).replace(u"  out:"_s, u"  fc3: Linear(8)\n  ReLU\n  out:"_s));
    ASSERT_TRUE(settles());
    EXPECT_THAT(model.measured(), ElementsAre("f16", "", "f16", "", "", "", "f16"));
    EXPECT_TRUE(model.isNewerThanTrace(6));
    EXPECT_FALSE(model.isNewerThanTrace(8));
    model.replaceText(u"network(features):\n  fc1: Linear(9)\n"_s);
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model.measured().empty()) << "no layer of it was traced";
    step.lines.clear();
    model.setText(QString::fromLatin1(net));
    model.setMeasured(step);
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model.measured().empty()) << "the step ran another network";
}

TEST(NetworkTypes, AChoiceSetsPrecisionForce) {
    SettingsModel settings;
    Context context;
    context.settings = &settings;
    NetworkModel model(context);
    model.setText(QString::fromLatin1(net));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !model.isChecking() && model.now().text == model.text(); }, 30'000));
    QMenu menu;
    addTypeChoices(&menu, &model, 2);
    ASSERT_GE(menu.actions().size(), 4);
    EXPECT_TRUE(menu.actions()[0]->isChecked());
    menu.actions()[1]->trigger();
    EXPECT_EQ(settings.config().precision.force.at("fc2"), engine::ForcedType::fp32);
    menu.actions()[0]->trigger();
    EXPECT_TRUE(settings.config().precision.force.empty());
    menu.clear();
    EXPECT_TRUE(menu.findChildren<QActionGroup*>().empty());
}

}  // namespace
}  // namespace ui
