#include <gtest/gtest.h>

#include <sstream>

#include "engine/network/network.h"
#include "support/rank_steps.h"

// Steps of a trainer whose settings hold a network as text: those of the built-in model, with all that changes a step.
namespace engine {
namespace {

using test::alone;
using test::Step;
using test::together;

RunConfig with_text(RunConfig config, const std::string& text) {
    config.model.kind = "file";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) config.model.network.all.push_back(line);
    return config;
}

/// These settings with the built-in model's template.
RunConfig as_text(const RunConfig& config) { return with_text(config, network_template(config.model.kind)); }

void expect_equal(const Step& written, const Step& built_in) {
    EXPECT_EQ(written.gradients, built_in.gradients);
    EXPECT_EQ(written.weights, built_in.weights);
    EXPECT_EQ(written.buffers, built_in.buffers);
    EXPECT_EQ(written.row.loss, built_in.row.loss);
    EXPECT_EQ(written.row.loss_scale, built_in.row.loss_scale);
}

class WrittenNetworkStep : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Precisions, WrittenNetworkStep, testing::Values("fp32", "amp-fp16", "amp-bf16", "fp8-delayed", "fp8-current",
                                                                                        "fp8-rowwise", "fp8-rowwise-gw", "fp8-block", "mxfp8", "nvfp4", "mxfp4"));

TEST_P(WrittenNetworkStep, OfATemplateHasTheBitsOfTheBuiltInModel) {
    for (const char* kind : {"mlp", "lenet"}) {
        SCOPED_TRACE(kind);
        const RunConfig config = test::small_run(kind, GetParam());
        expect_equal(alone(as_text(config), 3), alone(config, 3));
        expect_equal(together(as_text(config), 2, 2)[1], together(config, 2, 2)[1]);
    }
}

TEST_P(WrittenNetworkStep, WithForcedTypesAndFrozenLayersIsThatOfTheBuiltInModel) {
    RunConfig config = test::small_run("lenet", GetParam());
    config.model.freeze = {"conv1"};
    if (GetParam() != "fp32") config.precision.force = {{"conv2", ForcedType::fp32}, {"fc1:linear", ForcedType::fp32}};
    expect_equal(alone(as_text(config), 2), alone(config, 2));
}

TEST(WrittenNetworkSteps, WithAGradientPenaltyAreThoseOfTheBuiltInModel) {
    RunConfig config = test::small_run("lenet", "amp-bf16");
    config.gradient_penalty = 0.5;
    expect_equal(alone(as_text(config), 2), alone(config, 2));
}

const char* const random_text = R"(block Block(out):
  conv: Conv2d(out, 3, stride=2, padding=1)
  bn: BatchNorm2d
  ReLU
  Dropout2d(0.2)
  Dropout(0.1)
  rest: Conv2d(out, 1)
  DropPath(0.3)
  Add from bn, rest
network(image):
  first: Block(4)
  second: Block(8)
  AdaptiveAvgPool2d(1)
  Flatten
  fc: Linear(outputs)
)";

TEST(WrittenNetworkSteps, OfTwoRanksDropWhatOneProcessDrops) {
    RunConfig config = with_text(test::small_run("lenet", "fp32"), random_text);
    config.sync_batch_norm = true;
    const Step one = alone(config);
    EXPECT_LE(test::gap(together(config, 2)[0].gradients, one.gradients), test::norm_amplification * test::order_bound(config, 16 * 14 * 14, 6));
}

TEST(WrittenNetworkSteps, BlocksThatAreComputedAgainGiveTheSameGradients) {
    RunConfig config = with_text(test::small_run("lenet", "amp-bf16"), random_text);
    config.sync_batch_norm = true;
    const Step kept = together(config, 2, 3)[0];
    config.recompute = Recompute::blocks;
    expect_equal(together(config, 2, 3)[0], kept);
}

TEST(WrittenNetworkSteps, OfATextCarryTheStateFromWindowToWindow) {
    const auto run = [](const std::string& carry) {
        RunConfig config = with_text(test::small_text_run("fp32"), "network(tokens) gives token scores:\n  Embedding(8)\n  rnn: LSTM(8, carry=" + carry + ")\n  Linear(outputs)\n");
        config.model.options = {};
        return config;
    };
    // The first window starts without a state.
    expect_equal(alone(run("true"), 1), alone(run("false"), 1));
    EXPECT_NE(alone(run("true"), 2).row.loss, alone(run("false"), 2).row.loss);
    EXPECT_LE(test::gap(together(run("true"), 2)[0].gradients, alone(run("true")).gradients), test::order_bound(run("true"), 4 * 5, 7));
}

}  // namespace
}  // namespace engine
