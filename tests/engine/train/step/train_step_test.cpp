#include "train/step/train_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "step_support.h"
#include "support/grad_scaler.h"
#include "tensor/cast.h"
#include "train/step/make_optimizer.h"

// Single steps: phases, losses and optimizers compared with PyTorch's recipes, written out with
// GradScaler.
namespace engine {
namespace {

using test::Adversaries;
using test::pair_fixture;
using test::pair_run;
using test::PairModel;
using test::StepFixture;
using test::TwoLosses;

constexpr float infinity_f32 = std::numeric_limits<float>::infinity();

/// A PairModel, an optimizer for each of its layers, and a scaler, used like in a handwritten loop.
struct ByHand {
    explicit ByHand(const RunConfig& config_)
        : config(config_),
          model(config.seed, default_device()),
          scaler({.init_scale = config.scaler.init_scale,
                  .growth_interval = config.scaler.growth_interval,
                  .enabled = config.precision.preset == "amp-fp16"}) {
        for (const std::size_t layer : {0u, 1u})
            optimizers.push_back(make_optimizer(config.optimizer, model.parameters_of(layer),
                                                {.scaling_aware = true, .write_grads = false}));
    }
    /// Runs in the autocast region of the settings. At its end, cached casts are dropped.
    template <typename F>
    auto run(const F& f) const {
        const AutocastRegion region(default_device().kind, config.precision.preset == "amp-fp16",
                                    DType::f16);
        const auto entered = region.enter();
        return f();
    }
    void backward_of(const Tensor& loss, bool retain_graph = false) {
        const Tensor part =
            config.accumulate > 1 ? mul(loss, 1.0 / static_cast<double>(config.accumulate)) : loss;
        backward(scaler.scale(part), {.retain_graph = retain_graph});
    }
    std::vector<std::vector<double>> weights() const {
        std::vector<std::vector<double>> out;
        for (const Parameter& parameter : model.parameters())
            out.push_back(parameter.tensor.values());
        return out;
    }

    RunConfig config;
    PairModel model;
    GradScaler scaler;
    std::vector<std::unique_ptr<Optimizer>> optimizers;
};

/// The batches of a step, on the device.
std::vector<DeviceBatch> uploaded(StepFixture& fixture, BatchFeed& feed) {
    std::vector<DeviceBatch> out;
    for (const Batch& batch : fixture.batches) out.push_back(feed.upload(batch));
    return out;
}

class TwoOptimizers : public testing::TestWithParam<std::pair<const char*, std::int64_t>> {
protected:
    RunConfig config_ = pair_run(GetParam().first, GetParam().second);
    bool scaled_ = config_.precision.preset == "amp-fp16";
    /// The feed of the reference, which keeps several batches at once.
    std::unique_ptr<BatchFeed> feed_ =
        make_ring_feed(default_device(), TwoLosses().schema(true), {.per_step = 4, .held = 4});
};

/// Recipe training-loops.md#several-losses (3.5).
void two_losses_by_hand(ByHand& hand, const std::vector<DeviceBatch>& batches, bool spoil) {
    for (const auto& optimizer : hand.optimizers) optimizer->zero_grad();
    for (const DeviceBatch& batch : batches) {
        const TensorList losses = hand.run([&] {
            return TwoLosses::of(hand.model.first(batch[0]), hand.model.second(batch[0]), batch[1]);
        });
        hand.backward_of(losses[0], /*retain_graph=*/true);
        hand.backward_of(losses[1]);
    }
    if (spoil) test::spoil(hand.model);
    for (const auto& optimizer : hand.optimizers) hand.scaler.step(*optimizer);
    hand.scaler.update();
}

TEST_P(TwoOptimizers, S19_TwoLossesThatBothFeedBoth) {
    ByHand hand(config_);
    const auto fixture = pair_fixture(config_, default_device(), std::make_unique<TwoLosses>());
    constexpr int bad_step = 2;
    for (int i = 0; i < 4; ++i) {
        SCOPED_TRACE(i);
        fixture->make(i);
        const bool spoiled = scaled_ && i == bad_step;
        fixture->before_last_update([&] {
            if (spoiled) test::spoil(dynamic_cast<const PairModel&>(*fixture->model));
        });
        two_losses_by_hand(hand, uploaded(*fixture, *feed_), spoiled);
        const auto figures = fixture->compute();
        EXPECT_EQ(fixture->weights(), hand.weights());
        EXPECT_EQ(figures.gradient_statistics.found_inf != 0, spoiled) << "of any optimizer";
        EXPECT_EQ(figures.updates, i + 1);
        EXPECT_EQ(figures.further_updates[0], scaled_ && i >= bad_step ? i : i + 1);
        if (!scaled_) continue;
        EXPECT_EQ(static_cast<double>(figures.next_loss_scale), hand.scaler.loss_scale());
        EXPECT_EQ(figures.next_loss_scale, figures.loss_scale * (spoiled ? 0.5F : 2)) << "once";
    }
    EXPECT_EQ(fixture->step->update().optimizers()[0]->steps(), 4);
    EXPECT_EQ(fixture->step->update().optimizers()[1]->steps(), scaled_ ? 3 : 4);
    if (scaled_) {
        EXPECT_EQ(hand.scaler.loss_scale(), 128 * 8 * 0.5);
    }
}

/// The discriminator on all batches, its update, then the generator on the same pictures.
void adversaries_by_hand(ByHand& hand, const std::vector<DeviceBatch>& batches) {
    hand.optimizers[0]->zero_grad();
    TensorList pictures;
    for (const DeviceBatch& batch : batches) {
        const Tensor loss = hand.run([&] {
            pictures.push_back(hand.model.second(batch[1]));
            return Adversaries::discriminator_loss(hand.model, batch[0], pictures.back().detach());
        });
        hand.backward_of(loss);
    }
    hand.scaler.step(*hand.optimizers[0]);
    hand.optimizers[1]->zero_grad();
    for (const Tensor& made : pictures) {
        hand.backward_of(hand.run([&] { return Adversaries::generator_loss(hand.model, made); }));
    }
    hand.scaler.step(*hand.optimizers[1]);
    hand.scaler.update();
}

TEST_P(TwoOptimizers, AGeneratorFollowsTheUpdateOfItsDiscriminatorOnTheSamePictures) {
    for (const bool keep_graph : {false, true}) {
        SCOPED_TRACE(keep_graph);
        ByHand hand(config_);
        const auto fixture =
            pair_fixture(config_, default_device(), std::make_unique<Adversaries>(keep_graph));
        for (int i = 0; i < 5; ++i) {
            SCOPED_TRACE(i);
            fixture->make(i);
            adversaries_by_hand(hand, uploaded(*fixture, *feed_));
            const auto figures = fixture->compute();
            EXPECT_EQ(fixture->weights(), hand.weights());
            EXPECT_EQ(figures.gradient_statistics.found_inf, 0);
            EXPECT_EQ(figures.updates, i + 1);
            EXPECT_EQ(figures.further_updates[0], i + 1);
            EXPECT_TRUE(std::isfinite(figures.sums.loss));
            EXPECT_EQ(figures.sums.weight, 8.0 * static_cast<double>(config_.accumulate));
            if (scaled_) {
                EXPECT_EQ(static_cast<double>(figures.next_loss_scale), hand.scaler.loss_scale());
            }
        }
    }
}

class TwoScaledOptimizers : public TwoOptimizers {};

TEST_P(TwoScaledOptimizers, OneSkipsWhileTheOtherApplies) {
    ByHand hand(config_);
    const auto fixture = pair_fixture(config_, default_device(), std::make_unique<Adversaries>());
    fixture->make(0);
    adversaries_by_hand(hand, uploaded(*fixture, *feed_));
    (void)fixture->compute();
    const auto before = fixture->weights();
    // Only the discriminator uses the real pictures.
    fixture->make(1);
    test::fill_field(fixture->batches.back(), 0, infinity_f32);
    adversaries_by_hand(hand, uploaded(*fixture, *feed_));
    const auto skipped = fixture->compute();
    EXPECT_EQ(skipped.gradient_statistics.found_inf, 1);
    EXPECT_EQ(skipped.updates, 1) << "of the first optimizer";
    EXPECT_EQ(skipped.further_updates[0], 2);
    EXPECT_EQ(skipped.loss_scale, 256);
    EXPECT_EQ(skipped.next_loss_scale, 128) << "halved once";
    const auto after = fixture->weights();
    EXPECT_EQ(after, hand.weights());
    EXPECT_EQ(after[0], before[0]);
    EXPECT_NE(after[2], before[2]) << "the generator learns all the same";
    // Both use the noise: one backoff for two overflows.
    fixture->make(2);
    test::fill_field(fixture->batches.front(), 1, infinity_f32);
    adversaries_by_hand(hand, uploaded(*fixture, *feed_));
    const auto both = fixture->compute();
    EXPECT_EQ(both.gradient_statistics.found_inf, 1);
    EXPECT_EQ(both.updates, 1);
    EXPECT_EQ(both.further_updates[0], 2);
    EXPECT_EQ(both.next_loss_scale, 64);
    EXPECT_EQ(fixture->weights(), after);
    EXPECT_EQ(hand.scaler.loss_scale(), 64);
}

std::string label_of_run(const testing::TestParamInfo<TwoOptimizers::ParamType>& run) {
    return std::string(run.param.first[0] == 'f' ? "fp32" : "amp_fp16") + "_" +
           std::to_string(run.param.second);
}

INSTANTIATE_TEST_SUITE_P(Runs, TwoOptimizers,
                         testing::Values(std::pair{"fp32", 1}, std::pair{"fp32", 2},
                                         std::pair{"amp-fp16", 1}, std::pair{"amp-fp16", 2}),
                         label_of_run);
INSTANTIATE_TEST_SUITE_P(Runs, TwoScaledOptimizers,
                         testing::Values(std::pair{"amp-fp16", 1}, std::pair{"amp-fp16", 2}),
                         label_of_run);

TEST(TrainStep, FreesTheGradientsOfOtherPhasesOnlyWhereTheirOptimizerSteps) {
    const auto fixture =
        pair_fixture(pair_run("fp32"), default_device(), std::make_unique<Adversaries>());
    fixture->make(0);
    (void)fixture->compute();
    const auto& model = dynamic_cast<const PairModel&>(*fixture->model);
    const std::vector<double> discriminator = model.first.weight.grad().values();
    // The generator's loss goes through the discriminator, whose gradients come only from its own
    // phase.
    ByHand hand(pair_run("fp32"));
    const auto feed = make_ring_feed(default_device(), fixture->task->schema(true));
    const std::vector<DeviceBatch> batches = uploaded(*fixture, *feed);
    const Tensor pictures = hand.model.second(batches[0][1]);
    backward(Adversaries::discriminator_loss(hand.model, batches[0][0], pictures.detach()));
    EXPECT_EQ(discriminator, hand.model.first.weight.grad().values());
}

TEST(TrainStep, GathersTheGradientFiguresOfAllOptimizers) {
    const RunConfig config = pair_run("fp32");
    const auto fixture = pair_fixture(config, default_device(), std::make_unique<TwoLosses>());
    fixture->make(0);
    const auto figures = fixture->compute();
    double squares = 0, largest = 0;
    std::int64_t total = 0;
    for (const Parameter& parameter : fixture->model->parameters()) {
        for (const double value : parameter.tensor.grad().values()) {
            squares += value * value;
            largest = std::max(largest, std::abs(value));
            ++total;
        }
    }
    EXPECT_EQ(figures.gradient_statistics.total, total);
    EXPECT_EQ(static_cast<double>(figures.gradient_statistics.abs_max), largest);
    // A GPU sums eight neighbours in f32 first.
    const double slack = default_device().kind == Device::Kind::cuda ? 8 * 0x1p-24 : 1e-12;
    EXPECT_NEAR(figures.gradient_statistics.sum_squares, squares, slack * squares);
}

/// Observes every step, and casts gradients that were left in 16 bits to the type of their weights.
class Widening final : public StepObserver {
public:
    void before_update(const StepView& step) override {
        const GradMode off(false);
        for (const Parameter& each : step.model.parameters())
            if (const Tensor grad = each.tensor.grad(); grad.defined())
                each.tensor.set_grad(to(grad, each.tensor.dtype()));
    }
};

bool same_bits(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

DType gradient_type(test::TrainerFixture& fixture) {
    return fixture.trainer.model().parameters().front().tensor.grad().dtype();
}

/// Five steps of LeNet, some of them skipped, in both 16-bit types: one run leaves the gradients of
/// 16-bit casts as they are (LowGradients), the other one's check and update read them cast.
class GradientTypes : public testing::Test {
protected:
    static RunConfig run(const std::string& optimizer = "sgd", Options options = {}) {
        RunConfig config = test::small_run("lenet", "amp-fp16");
        config.clip = {ClipKind::norm, 0.5};
        config.scaler.init_scale = 0x1p18;  // steps are skipped too
        config.optimizer.kind = optimizer;
        config.optimizer.options = std::move(options);
        return config;
    }
    static void expect_bits_of_cast_gradients(RunConfig config, bool stay_low = true) {
        for (const auto& [precision, low] :
             {std::pair("amp-fp16", DType::f16), std::pair("amp-bf16", DType::bf16)}) {
            SCOPED_TRACE(precision);
            config.precision.preset = precision;
            expect_same_bits(config, stay_low ? low : DType::f32);
        }
    }

private:
    static void expect_same_bits(const RunConfig& config, DType type) {
        test::TrainerFixture alone(config, default_device()), wide(config, default_device());
        wide.trainer.attach(std::make_shared<Widening>());
        for (int step = 0; step < 5; ++step) {
            const StepRecord row = alone.step(step).row, seen = wide.step(step).row;
            EXPECT_EQ(row.found_inf, seen.found_inf);
            EXPECT_TRUE(same_bits(row.loss, seen.loss));
            EXPECT_TRUE(same_bits(row.grad_norm, seen.grad_norm));
            if (step > 0) continue;  // later ones may be replayed
            EXPECT_EQ(gradient_type(alone), type);
            EXPECT_EQ(gradient_type(wide), DType::f32);
        }
        EXPECT_GT(alone.trainer.updates(), 0);
        const auto& parameters = alone.trainer.model().parameters();
        for (std::size_t i = 0; i < parameters.size(); ++i)
            EXPECT_EQ(parameters[i].tensor.values(),
                      wide.trainer.model().parameters()[i].tensor.values())
                << parameters[i].name;
    }
};

TEST_F(GradientTypes, DoNotChangeTheBits) { expect_bits_of_cast_gradients(run()); }

// The second micro-batch's gradients are added to those of the first, in f32.
TEST_F(GradientTypes, DoNotChangeTheBitsOfAccumulatedSteps) {
    RunConfig config = run();
    config.accumulate = 2;
    expect_bits_of_cast_gradients(config, /*stay_low=*/false);
}

// These take the norm of each tensor's gradient.
TEST_F(GradientTypes, DoNotChangeTheBitsOfLamb) {
    expect_bits_of_cast_gradients(run("lamb", {{"lr", 0.01}}));
}
TEST_F(GradientTypes, DoNotChangeTheBitsOfLarc) {
    expect_bits_of_cast_gradients(run("sgd", {{"lr", 0.1}, {"larc", true}}));
}

TEST(TrainStep, KeepsConvolutionWeightsOnAGpuInTheOrderOfItsLibrary) {
    const bool gpu = default_device().kind == Device::Kind::cuda;
    const RunConfig config = test::small_run("lenet", "amp-fp16");
    test::TrainerFixture fixture(config, default_device());
    const Tensor weight = fixture.trainer.model().parameters()[2].tensor;  // of two input channels
    ASSERT_EQ(weight.rank(), 4);
    ASSERT_GT(weight.size(1), 1);
    const auto host = saved_state(fixture.trainer.model());
    EXPECT_EQ(host.at(fixture.trainer.model().parameters()[2].name).values(), weight.values());
    fixture.step(0);
    EXPECT_EQ(weight.is_channels_last(), gpu);
    EXPECT_EQ(weight.impl()->low_copy->tensor.is_channels_last(), gpu);
    EXPECT_EQ(weight.grad().is_channels_last(), gpu);
    EXPECT_EQ(weight.impl()->low_copy->tensor.values(), to(weight.detach(), DType::f16).values());
}

}  // namespace
}  // namespace engine
