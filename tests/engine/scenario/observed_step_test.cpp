#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda_device.h"
#include "needs_cuda.h"
#include "simt/work_counts.h"
#include "support/click_run.h"
#include "support/device_support.h"
#include "support/few_pictures.h"
#include "tensor/observer.h"
#include "train/step/step_observer.h"

// An observer changes nothing that runs (decisions.md#training-loop, D21): with one a step has the
// bits and the kernels of a plain one. What runs aside, for the observer alone, is counted apart.
namespace engine {
namespace {

using Runs = std::map<std::string, std::int64_t>;  // of each kernel

/// Lists the operations that it sees. On a GPU stops the count of kernels for what runs aside.
class Onlooker final : public StepObserver, public OpObserver {
public:
    explicit Onlooker(const Device& device) : device_(device) {}

    void begin(const StepView&) override { scope_.emplace(*this); }
    void end(const StepView&) override { scope_.reset(); }
    void on_op(const OpEvent& event) override { ops.emplace_back(event.info->name); }
    void on_aside(bool begins) override {
        if (begins == aside_) return;
        aside_ = begins;
        Runs& runs = begins ? own : aside;
        take(runs);
    }
    /// Adds what has run since.
    void take(Runs& runs) {
        if (device_.kind == Device::Kind::cpu) return;
        kernels::cuda::synchronize(current_stream());
        for (const auto& [name, count] : kernels::simt::stop_counting()) runs[name] += count.runs;
        kernels::simt::start_counting();
    }

    std::vector<std::string> ops;
    Runs own, aside;

private:
    Device device_;
    bool aside_ = false;
    std::optional<ObserverScope> scope_;
};

struct SecondStep {
    float loss;
    std::vector<std::vector<double>> weights;  ///< after it
    std::shared_ptr<Onlooker> seen;
};

SecondStep second_step(const RunConfig& config, const Device& device, bool observed) {
    test::TrainerFixture fixture(config, device);
    fixture.step(0);  // chooses the libraries' algorithms
    const auto onlooker = std::make_shared<Onlooker>(device);
    if (observed) fixture.trainer.attach(onlooker);
    if (device.kind == Device::Kind::cuda) kernels::simt::start_counting();
    SecondStep out{fixture.step(1).row.loss, {}, onlooker};
    onlooker->take(onlooker->own);
    for (const Parameter& each : fixture.trainer.model().parameters())
        out.weights.push_back(each.tensor.values());
    return out;
}

void expect_same_when_observed(const RunConfig& config, const Device& device) {
    second_step(config, device, false);  // of algorithms that are chosen once for a shape
    const SecondStep plain = second_step(config, device, false),
                     observed = second_step(config, device, true);
    EXPECT_TRUE(plain.seen->ops.empty());
    EXPECT_GT(observed.seen->ops.size(), 10U);
    EXPECT_EQ(observed.loss, plain.loss);
    EXPECT_EQ(observed.weights, plain.weights);
    EXPECT_EQ(observed.seen->own, plain.seen->own);
    if (device.kind == Device::Kind::cpu) return;
    EXPECT_FALSE(plain.seen->own.empty()) << "else nothing is compared";
    EXPECT_TRUE(plain.seen->aside.empty());
    EXPECT_FALSE(observed.seen->aside.empty()) << "something is computed together";
}

std::vector<RunConfig> networks(const test::FewPictures& pictures) {
    RunConfig resnet = test::small_run("resnet18", "fp32");
    resnet.dataset.kind = "cifar10";
    resnet.dataset.path = {pictures.path()};
    resnet.batch_size = 2;
    return {test::small_run("mlp", "fp32"), test::small_transformer_run("fp32"),
            test::small_click_run("fp32"), resnet};
}

TEST(ObservedStep, HasTheBitsOfAPlainOne) {
    const test::FewPictures pictures(8);
    for (const RunConfig& config : networks(pictures)) {
        SCOPED_TRACE(config.model.kind);
        expect_same_when_observed(config, Device{});
    }
}

TEST(ObservedStep, HasTheKernelsOfAPlainOne) {
    HALFTONE_NEEDS_CUDA();
    const test::FewPictures pictures(8);
    for (const RunConfig& config : networks(pictures)) {
        SCOPED_TRACE(config.model.kind);
        expect_same_when_observed(config, test::cuda);
    }
}

}  // namespace
}  // namespace engine
