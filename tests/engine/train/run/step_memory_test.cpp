#include "engine/train/step_memory.h"

#include <gtest/gtest.h>

#include <sstream>

#include "engine/settings/catalog.h"
#include "support/ranks.h"

// The memory of a step is predicted as the accounts measure it.
namespace engine {
namespace {

struct Measured {
    double activations = 0;
    double peak = 0;
};

class Accounts final : public StepObserver {
public:
    explicit Accounts(const MemoryAccounting& accounting) : accounting_(accounting) {}
    void before_forward(const StepView&, DeviceBatch&, TensorList&) override { before_ = now(); }
    void after_forward(const StepView&, const TensorList&) override { kept = now() - before_; }
    double kept = 0;

private:
    double now() const { return static_cast<double>(accounting_.bytes(MemoryUse::activations)); }
    const MemoryAccounting& accounting_;
    double before_ = 0;
};

/// Measures two steps: in the second one the optimizer has its state.
Measured measured(const RunConfig& config) {
    test::RankRun run(config);
    const MemoryAccounting& accounting = *run.trainer.accounting();
    const auto accounts = std::make_shared<Accounts>(accounting);
    run.trainer.attach(accounts);
    run.step();
    run.step();
    return {accounts->kept, static_cast<double>(accounting.peak() - accounting.bytes(MemoryUse::workspace))};
}

RunConfig with_text(const std::string& text, RunConfig config, Options options) {
    config.batch_size = 32;
    config.model = {};
    config.model.kind = "file";
    config.model.options = std::move(options);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) config.model.network.all.push_back(line);
    return completed(config);
}

RunConfig with_template(const std::string& name, const std::string& precision, Options options) {
    return with_text(network_template(name), test::small_run(name == "siamese" ? "mlp" : "lenet", precision), std::move(options));
}

struct Case {
    const char* name;
    Options options{};
};

class StepMemoryTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Precisions, StepMemoryTest, testing::Values("fp32", "amp-fp16", "amp-bf16", "pure-fp16"));

/// The accounts hold small tensors of losses and layers' own scratch too.
TEST_P(StepMemoryTest, IsThatOfTheAccountsWithinATenth) {
    for (const Case& each : {Case{"lenet"}, Case{"resnet18", {{"width", std::int64_t{16}}}}, Case{"vit", {{"depth", std::int64_t{2}}, {"width", std::int64_t{48}}, {"dropout", 0.1}}},
                             Case{"lstm"}, Case{"autoencoder"}, Case{"unet"}, Case{"mlp"}, Case{"siamese"}, Case{"mobilenetv2"}}) {
        SCOPED_TRACE(each.name);
        const RunConfig config = with_template(each.name, GetParam(), each.options);
        const StepMemory predicted = predict_step_memory(network_template(each.name), network_data(config), config);
        const Measured found = measured(config);
        EXPECT_NEAR(predicted.activations / found.activations, 1, 0.1);
        EXPECT_NEAR(predicted.peak / found.peak, 1, 0.1);
    }
}

/// Layers behind a convolution whose results their gradients keep in another form than they came in.
TEST_P(StepMemoryTest, OfAKindOfLayerIsThatOfTheAccounts) {
    for (const char* layer : {"SiLU", "ELU", "Hardswish", "Mish", "Softplus", "Softsign", "LogSigmoid", "PReLU", "PReLU(num_parameters=8)", "GroupNorm(2)", "InstanceNorm2d(affine=true)",
                              "Normalize(1)", "LPPool2d(2, 2)", "Dropout2d(0.5)", "DropPath(0.2)", "Pad(4, mode=reflect)", "Conv2d(8, 3, padding=1, padding_mode=replicate)", "Upsample(2, mode=bilinear)",
                              "Max(1)", "Mean(1)", "Clamp(-1, 1)", "x = Abs\n  Where from x, c, x", "x = ReLU\n  Maximum from x, c", "x = ReLU\n  CosineSimilarity from x, c",
                              "Unsqueeze(2)\n  MaxPool3d([1, 2, 2])"}) {
        SCOPED_TRACE(layer);
        const std::string text = "network(image):\n  c: Conv2d(8, 3)\n  " + std::string(layer) + "\n  Flatten\n  fc: Linear(outputs)\n";
        const RunConfig config = with_text(text, test::small_run("lenet", GetParam()), {});
        const StepMemory predicted = predict_step_memory(text, network_data(config), config);
        const Measured found = measured(config);
        EXPECT_NEAR(predicted.activations / found.activations, 1, 0.1);
        if (GetParam() != "pure-fp16") {
            EXPECT_NEAR(predicted.peak / found.peak, 1, 0.25);
        }
    }
}

TEST(StepMemory, ANormOfAnInputLearns) {
    for (const char* norm : {"BatchNorm2d", "InstanceNorm2d(affine=true)", "BatchNorm2d\n  ReLU"}) {
        const std::string text = "network(image):\n  " + std::string(norm) + "\n  GELU\n  Conv2d(4, 3)\n  Flatten\n  fc: Linear(outputs)\n";
        const RunConfig config = with_text(text, test::small_run("lenet", "amp-fp16"), {});
        const StepMemory predicted = predict_step_memory(text, network_data(config), config);
        const std::size_t gelu = predicted.saved.size() - 4;
        // A relu that is computed with the norm has kept its own result.
        EXPECT_EQ(predicted.saved[gelu], gelu == 1 ? 32 * 28 * 28 * 4 : 0) << norm;
        EXPECT_NEAR(predicted.activations / measured(config).activations, 1, 0.1) << norm;
    }
}

TEST(StepMemory, OfARowIsWhatItsGradientReads) {
    RunConfig config = with_template("lenet", "amp-fp16", {});
    config.batch_size = 2;
    NetworkData data{.inputs = {{"features", {8}, {}}}, .outputs = 3};
    const StepMemory memory = predict_step_memory("network(features):\n  Linear(4)\n  ReLU\n  Dropout(0.5)\n  Linear(outputs)\n", data, config);
    // The f16 input; the f16 results of relu and of dropout; dropout's mask.
    EXPECT_EQ(memory.saved, (std::vector<double>{2 * 8 * 2, 2 * 4 * 2, 2 * 4, 2 * 4 * 2}));
}

TEST(StepMemory, ANormOfAViewOfAParameterHasAGradient) {
    RunConfig config = with_template("lenet", "amp-fp16", {});
    config.batch_size = 2;
    const NetworkData data{.inputs = {{"features", {8}, {}}}, .outputs = 3};
    const std::string text = "network(features):\n  fc: Linear(outputs)\n  p: Parameter([1, 3])\n  t = Transpose(0, 1) from p\n"
                             "  u = Transpose(0, 1)\n  b: BatchNorm1d from u\n  Add from fc, b\n";
    ASSERT_TRUE(check_network(text, data).usable());
    const StepMemory memory = predict_step_memory(text, data, config);
    EXPECT_GT(memory.peak, memory.activations);
    EXPECT_EQ(memory.saved.front(), 2 * 8 * 2);
}

TEST(StepMemory, AConvolutionOverTheWindowOfATextMayHaveABorder) {
    RunConfig config = with_template("lenet", "amp-fp16", {});
    config.batch_size = 2;
    const NetworkData data{.inputs = {{"tokens", {}, {50}}}, .outputs = 50};
    const auto peak = [&](const std::string& mode) {
        const std::string text = "network(tokens) gives token scores:\n  Embedding(8)\n  Transpose(1, 2)\n  Conv1d(8, 3, padding=same, padding_mode=" + mode + ")\n  Transpose(1, 2)\n  Linear(outputs)\n";
        EXPECT_TRUE(check_network(text, data).usable());
        return predict_step_memory(text, data, config).peak;
    };
    EXPECT_LT(peak("replicate"), 2 * peak("zeros"));
}

/// More bytes than a whole number of 64 bits counts.
TEST(StepMemory, OfHugeInputsIsTheirs) {
    RunConfig config = with_template("lenet", "fp32", {});
    config.batch_size = 128;
    constexpr std::int64_t mebi = std::int64_t{1} << 20;
    const NetworkData data{.inputs = {{"image", {mebi, mebi, mebi}, {}}}, .outputs = 3};
    const std::string text = "network(image):\n  ReLU\n  Mean([2, 3])\n  Linear(outputs)\n";
    ASSERT_TRUE(check_network(text, data).usable());
    const double input = 0x1p60 * 4 * 128;
    const StepMemory memory = predict_step_memory(text, data, config);
    EXPECT_EQ(memory.batch, input);
    EXPECT_NEAR(memory.peak / input, 2, 0.01);
}

}  // namespace
}  // namespace engine
