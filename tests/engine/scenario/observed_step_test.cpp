#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "amp/dispatch.h"
#include "instruments/histograms/histogram_sampler.h"
#include "instruments/skips/nonfinite_trace.h"
#include "instruments/xray/op_trace.h"
#include "kernels/cuda_device.h"
#include "needs_cuda.h"
#include "simt/work_counts.h"
#include "support/click_run.h"
#include "support/device_support.h"
#include "support/exact_values.h"
#include "support/few_pictures.h"
#include "tensor/observer.h"
#include "train/step/step_observer.h"

// An observer changes nothing that runs (decisions.md#training-loop, D21): under those of the
// X-ray, the microscope and the skip analysis a step has the bits and the kernels of a plain one.
// What runs aside, and what the observers compute themselves, is counted apart.
namespace engine {
namespace {

using Runs = std::map<std::string, std::int64_t>;  // of each kernel

/// On a GPU counts what runs: as the step's own, aside for observers, or in an observer.
class Counter {
public:
    explicit Counter(const Device& device) : device_(device) {
        if (device_.kind == Device::Kind::cuda) kernels::simt::start_counting();
    }

    void set_aside(bool aside) {
        take();
        aside_ = aside;
    }
    void set_inside(bool inside) {
        take();
        inside_ = inside;
    }
    /// Adds what has run since.
    void take() {
        if (device_.kind == Device::Kind::cpu) return;
        kernels::cuda::synchronize(current_stream());
        Runs& runs = inside_ ? observers : aside_ ? aside : own;
        for (const auto& [name, count] : kernels::simt::stop_counting()) runs[name] += count.runs;
        kernels::simt::start_counting();
    }

    Runs own, aside, observers;

private:
    Device device_;
    bool aside_ = false, inside_ = false;
};

/// Stands before or after the observers of a step, so that the counter knows when they are called.
class Fence final : public StepObserver, public OpObserver {
public:
    Fence(std::shared_ptr<Counter> counter, bool before)
        : counter_(std::move(counter)), before_(before) {}

    void begin(const StepView&) override {
        scope_.emplace(*this);
        pass();
    }
    void before_forward(const StepView&, DeviceBatch&, TensorList&) override { pass(); }
    void after_forward(const StepView&, const TensorList&) override { pass(); }
    void after_backward(const StepView&) override { pass(); }
    void before_update(const StepView&) override { pass(); }
    void after_update(const StepView&) override { pass(); }
    void end(const StepView&) override {
        scope_.reset();
        pass();
    }
    void on_op(const OpEvent& event) override {
        ops.emplace_back(event.info->name);
        pass();
    }
    void on_call(const OpCall&) override { pass(); }
    void on_return(std::span<const Tensor>) override { pass(); }
    void on_cached_cast(const Tensor&, const Tensor&) override { pass(); }
    void on_gradient(const Op&, const Tensor&) override { pass(); }
    bool reads_inputs() const override { return false; }
    void on_aside(bool begins) override {
        if (before_) counter_->set_aside(begins);
        pass();
    }
    void on_same(const Tensor&, const Tensor&) override { pass(); }

    std::vector<std::string> ops;

private:
    void pass() { counter_->set_inside(before_); }

    std::shared_ptr<Counter> counter_;
    bool before_;
    std::optional<ObserverScope> scope_;
};

/// The observers of a step, in the order in which they are attached.
using Observers = std::vector<std::shared_ptr<StepObserver>>;

Observers no_observers(Trainer&) { return {}; }

Observers all_instruments(Trainer& trainer) {
    const auto histograms = std::make_shared<HistogramSampler>(0);
    histograms->request();
    return {std::make_shared<OpTrace>(trainer.device(), trainer.accounting()), histograms,
            std::make_shared<NonfiniteTrace>()};
}

struct SecondStep {
    StepRecord row;
    std::vector<std::string> weights;  ///< bits, after it
    std::shared_ptr<Counter> counted;
    std::vector<std::string> ops;  ///< that were shown
};

SecondStep second_step(const RunConfig& config, const Device& device,
                       Observers (*make)(Trainer&) = nullptr) {
    test::TrainerFixture fixture(config, device);
    fixture.step(0);  // chooses the libraries' algorithms
    const auto counter = std::make_shared<Counter>(device);
    const auto first = std::make_shared<Fence>(counter, true),
               last = std::make_shared<Fence>(counter, false);
    if (make != nullptr) {
        fixture.trainer.attach(first);
        for (const auto& each : make(fixture.trainer)) fixture.trainer.attach(each);
        fixture.trainer.attach(last);
    }
    SecondStep out{fixture.step(1).row, {}, counter, {}};
    counter->take();
    out.ops = first->ops;
    for (const Parameter& each : fixture.trainer.model().parameters())
        out.weights.push_back(test::bits(each.tensor));
    return out;
}

/// Events of the X-ray's clock are no work of a step.
Runs without_marks(Runs runs) {
    runs.erase("mark");
    return runs;
}

void expect_same(const SecondStep& observed, const SecondStep& plain) {
    const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    EXPECT_GT(observed.ops.size(), 10U);
    EXPECT_EQ(bits(observed.row.loss), bits(plain.row.loss));
    EXPECT_EQ(bits(observed.row.grad_norm), bits(plain.row.grad_norm));
    EXPECT_EQ(bits(observed.row.scaled_f16_max), bits(plain.row.scaled_f16_max));
    EXPECT_EQ(observed.row.found_inf, plain.row.found_inf);
    EXPECT_EQ(observed.weights, plain.weights);
    EXPECT_EQ(without_marks(observed.counted->own), without_marks(plain.counted->own));
}

/// Returns what the observed step, without an observer that computes, has run aside.
/// `instruments`: compares one under all of them, too.
Runs expect_same_when_observed(const RunConfig& config, const Device& device,
                               bool instruments = true) {
    // Chooses the algorithms of libraries, once for a shape.
    if (device.kind == Device::Kind::cuda) second_step(config, device);
    const SecondStep plain = second_step(config, device);
    EXPECT_TRUE(plain.ops.empty());
    EXPECT_TRUE(plain.counted->aside.empty() && plain.counted->observers.empty());
    EXPECT_EQ(plain.counted->own.empty(), device.kind == Device::Kind::cpu);
    const SecondStep seen = second_step(config, device, no_observers);
    expect_same(seen, plain);
    EXPECT_TRUE(without_marks(seen.counted->observers).empty());
    if (instruments) expect_same(second_step(config, device, all_instruments), plain);
    return seen.counted->aside;
}

const char* const precisions[] = {"fp32", "amp-fp16", "amp-bf16", "o2-fp16", "pure-fp16"};

/// A network that has a batch norm, and convolutions of both kinds, in two phases.
RunConfig small_gan_run(const char* precision) {
    RunConfig config = test::small_run("dcgan", precision);
    config.model.options = {{"latent", std::int64_t{4}}, {"channels", std::int64_t{4}}};
    config.batch_size = 2;
    return config;
}

std::vector<RunConfig> small_networks(const char* precision) {
    return {test::small_run("mlp", precision), small_gan_run(precision),
            test::small_text_run(precision), test::small_transformer_run(precision),
            test::small_click_run(precision)};
}

/// Its batch norms add two gradients up, and are fused with a sum and a relu.
RunConfig resnet_run(const test::FewPictures& pictures, const char* precision) {
    RunConfig config = test::small_run("lenet", precision);
    test::use_narrow_resnet(config, pictures);
    return config;
}

class ObservedStep : public testing::TestWithParam<const char*> {};

TEST_P(ObservedStep, HasTheBitsOfAPlainOne) {
    for (const RunConfig& config : small_networks(GetParam())) {
        SCOPED_TRACE(config.model.kind);
        expect_same_when_observed(config, Device{});
    }
}

TEST_P(ObservedStep, HasTheKernelsOfAPlainOne) {
    HALFTONE_NEEDS_CUDA();
    Runs aside;
    for (const RunConfig& config : small_networks(GetParam())) {
        SCOPED_TRACE(config.model.kind);
        aside.merge(expect_same_when_observed(config, test::cuda));
    }
    EXPECT_FALSE(aside.empty()) << "something is computed together";
}

INSTANTIATE_TEST_SUITE_P(InEachPrecision, ObservedStep, testing::ValuesIn(precisions),
                         [](const auto& each) {
                             std::string name = each.param;
                             std::erase(name, '-');
                             return name;
                         });

// On a CPU a small MLP is one node, which reads 16-bit copies and leaves their gradients as they
// are.
TEST(ObservedSteps, AccumulateAsPlainOnes) {
    for (const char* const model : {"mlp", "lenet"}) {
        SCOPED_TRACE(model);
        RunConfig config = test::small_run(model, "amp-fp16");
        config.accumulate = 2;
        expect_same_when_observed(config, Device{});
    }
}

TEST(ObservedSteps, OfAResNetHaveTheBitsOfPlainOnes) {
    const test::FewPictures pictures(8);
    expect_same_when_observed(resnet_run(pictures, "fp32"), Device{});
}

TEST(ObservedSteps, OfAResNetHaveTheKernelsOfPlainOnes) {
    HALFTONE_NEEDS_CUDA();
    const test::FewPictures pictures(8);
    const RunConfig config = resnet_run(pictures, "amp-fp16");
    EXPECT_FALSE(expect_same_when_observed(config, test::cuda, /*instruments=*/false).empty());
}

}  // namespace
}  // namespace engine
