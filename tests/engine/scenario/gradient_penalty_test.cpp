#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "autograd/backward.h"
#include "io/safetensors/safetensors.h"
#include "needs_cuda.h"
#include "ops/loss/cross_entropy.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "support/device_support.h"
#include "temp_folder.h"
#include "tensor/tape.h"

// Recipe training-loops.md#gradient-penalty (3.4) as a setting of a run.
namespace engine {
namespace {

using test::cuda;
using test::small_run;
using test::TrainerFixture;
using Gradients = std::map<std::string, std::vector<double>>;

class GradientPenalty : public testing::TestWithParam<const char*> {};

std::vector<double> numbers_of(const TensorEntry& entry) {
    std::vector<float> values(entry.bytes.size() / sizeof(float));
    std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
    return {values.begin(), values.end()};
}

/// Loss and unscaled gradients of one step.
struct Dump {
    double loss;
    Gradients gradients;

    double norm() const {
        double sum = 0;
        for (const auto& [name, values] : gradients) {
            for (const double v : values) sum += v * v;
        }
        return std::sqrt(sum);
    }
};

Dump dump_of(const RunConfig& config) {
    TrainerFixture fixture(config, Device{});
    const test_support::TempFolder folder;
    const auto path = folder / "dump.safetensors";
    fixture.trainer.dump_next_gradients(path.string());
    (void)fixture.step(0);
    const auto file = SafetensorsFile::open(path);
    Dump dump{};
    for (const auto& entry : file.tensors()) {
        if (entry.name == "loss")
            dump.loss = numbers_of(entry)[0];
        else
            dump.gradients[entry.name.substr(5)] = numbers_of(entry);
    }
    return dump;
}

/// The recipe for the run's first batch, written out without trainer, scaler or region: the
/// gradient of loss + weight * sqrt(sum of squares of the loss's gradient).
Dump by_hand(const RunConfig& config, double weight) {
    TrainerFixture fixture(config, Device{});
    fixture.batches.resize(1);
    fixture.collator.make(fixture.batches[0], 0, 0);
    const DeviceBatch batch = fixture.feed->upload(fixture.batches[0]);
    Model& model = fixture.trainer.model();
    const Tensor loss = cross_entropy(model.forward({batch[0]}).front(), batch[1]);
    TensorList weights;
    for (const auto& parameter : model.parameters()) weights.push_back(parameter.tensor);
    const TensorList first = grad({&loss, 1}, weights, {}, {.create_graph = true});
    Tensor squares = Tensor::scalar(0, DType::f32);
    for (const auto& g : first) squares = add(squares, sum(mul(g, g)));
    const Tensor total = add(loss, mul(sqrt(squares), weight));
    const TensorList found = grad({&total, 1}, weights);
    Dump dump{loss.item(), {}};
    for (std::size_t i = 0; i < found.size(); ++i)
        dump.gradients[model.parameters()[i].name] = found[i].values();
    return dump;
}

double distance(const Dump& a, const Dump& b) {
    double sum = 0;
    for (const auto& [name, values] : a.gradients) {
        const auto& others = b.gradients.at(name);
        EXPECT_EQ(others.size(), values.size()) << name;
        for (std::size_t i = 0; i < values.size(); ++i)
            sum += (values[i] - others[i]) * (values[i] - others[i]);
    }
    return std::sqrt(sum);
}

// The two orders of the sums differ by some thousand f32 roundings.
TEST_P(GradientPenalty, IsTheGradientOfLossAndNormTogether) {
    RunConfig config = small_run(GetParam(), "fp32");
    const Dump plain = dump_of(config);
    config.gradient_penalty = 0.5;
    const Dump found = dump_of(config), expected = by_hand(config, 0.5);
    EXPECT_EQ(found.loss, plain.loss) << "the loss that is shown is the one without";
    EXPECT_LT(distance(found, expected), 4096 * 0x1p-24 * expected.norm());
    EXPECT_GT(distance(found, plain), 0.1 * found.norm()) << "the penalty has a part in it";
}

TEST_P(GradientPenalty, DoesNotDependOnTheLossScale) {
    RunConfig config = small_run(GetParam(), "amp-fp16");
    config.gradient_penalty = 0.5;
    config.scaler.init_scale = 256;
    const Dump one = dump_of(config);
    config.scaler.init_scale = 1024;
    const Dump four = dump_of(config);
    EXPECT_EQ(one.loss, four.loss);
    // Only values that underflow in fp16 at the smaller scale make a difference, since a power of
    // two changes no rounding.
    EXPECT_NEAR(one.norm(), four.norm(), 1e-3 * one.norm());
}

TEST_P(GradientPenalty, TrainsTheSameOnTheDeviceReplayedOrNot) {
    HALFTONE_NEEDS_CUDA();
    RunConfig config = small_run(GetParam(), "amp-fp16");
    config.gradient_penalty = 0.25;
    TrainerFixture eager(config, cuda), recorded(config, cuda);
    eager.trainer.set_recording(false);
    for (int i = 0; i < 6; ++i) {
        const StepRecord a = eager.step(i).row, b = recorded.step(i).row;
        EXPECT_EQ(a.loss, b.loss) << i;
        EXPECT_EQ(a.grad_norm, b.grad_norm) << i;
    }
    EXPECT_GT(recorded.trainer.replayed_steps(), 0);
}

TEST_P(GradientPenalty, AnOverflowOfTheFirstGradientSkipsTheStep) {
    RunConfig config = small_run(GetParam(), "amp-fp16");
    config.gradient_penalty = 0.25;
    config.scaler.init_scale = 0x1p40;
    TrainerFixture fixture(config, Device{});
    const StepRecord row = fixture.step(0).row;
    EXPECT_EQ(row.found_inf, 1);
    EXPECT_EQ(row.updates, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, GradientPenalty, testing::Values("mlp", "lenet"));

}  // namespace
}  // namespace engine
