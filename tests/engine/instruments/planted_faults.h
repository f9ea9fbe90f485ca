#pragma once

#include <functional>
#include <memory>

#include "instruments/replay/step_variant.h"
#include "instruments/skips/skip_verdict.h"
#include "ops/index/masked.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "step_support.h"

// Steps with a fault in their loss, computed in their own precision and in FP32.
namespace engine::test {

/// Computes the loss of a batch from the outputs (rows, 8) of a linear layer.
using PlantedLoss = std::function<Tensor(const Tensor&)>;

class PlantedTask final : public PairTask {
public:
    explicit PlantedTask(PlantedLoss loss)
        : PairTask({{numbers("input", pair_width)}}), loss_(std::move(loss)) {}
    std::vector<std::vector<Parameter>> optimized(Model& model) const override {
        return Task::optimized(model);
    }
    TensorList losses(TaskStep& step) override {
        const Tensor loss = loss_(step.forward(TensorList{step.batch[0]}).front());
        add_loss(step, loss, step.batch.rows);
        return {loss};
    }

private:
    PlantedLoss loss_;
};

/// A traced step of the task.
struct TracedStep {
    TracedStep(const RunConfig& config, const PlantedLoss& loss)
        : fixture(pair_fixture(config, default_device(), std::make_unique<PlantedTask>(loss))) {
        fixture->step->observers().attach(trace);
        fixture->make(0);
        figures = fixture->compute();
    }
    std::unique_ptr<StepFixture> fixture;
    std::shared_ptr<NonfiniteTrace> trace = std::make_shared<NonfiniteTrace>();
    kernels::StepFigures figures{};
};

inline std::vector<SkipTest> verdict_of(const RunConfig& config, const PlantedLoss& loss,
                                        const std::vector<StepTrial>& ladder = {}) {
    const TracedStep step(config, loss), shadow(fp32_settings(config), loss);
    const bool scaled = resolve(config.precision).scaler != ScalerMode::off;
    return skip_tests(
        {.trace = *step.trace,
         .scale = scaled ? config.scaler.init_scale : 1,
         .has_scaler = scaled,
         .shadow_is_finite = shadow.trace->loss_is_finite() && shadow.trace->gradients_are_finite(),
         .ladder = ladder,
         .largest_in_f32 = shadow.trace->largest(step.trace->first_key())});
}

}  // namespace engine::test
