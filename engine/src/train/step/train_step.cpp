#include "train/step/train_step.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tensor/deferred_errors.h"
#include "tensor/gradient_shortcuts.h"

namespace engine {

TrainStep::TrainStep(const RunConfig& config, Task& task, Model& model, const Device& device,
                     const PlannedSteps& planned, Communicator* ranks,
                     std::unique_ptr<LossScaler> scaler)
    : device_(device),
      shared_(ranks != nullptr),
      precision_(resolve(config.precision), config.scaler, model, device, std::move(scaler),
                 recipe_settings(config)),
      update_(config, task, model, precision_, device, planned),
      state_(task, model, update_.optimizers(), precision_.scaler(), precision_.quantized(), device,
             ranks),
      observers_({0, task, model, precision_, update_.optimizers()}),
      forward_backward_(config, task, model, precision_, update_, state_, observers_, ranks),
      low_gradients_(keeps_low_gradients(config)) {
    const UseScope use(MemoryUse::workspace);
    figures_ = DeviceRecord<kernels::StepFigures>(device_);
    figures_.clear();
    if (precision_.quantized() != nullptr) begin_recipes(config, planned, ranks);
}

void TrainStep::begin_recipes(const RunConfig& config, const PlannedSteps& planned,
                              Communicator* ranks) {
    const double share = config.quantize.high_precision_from;
    if (share > 0 && planned.all > 0)
        precision_.quantized()->set_forward_kept_from(
            static_cast<std::int64_t>(std::ceil(share * static_cast<double>(planned.all))));
    if (ranks == nullptr) return;
    precision_.quantized()->set_ranks([ranks](std::span<float> values) {
        const auto count = static_cast<std::int64_t>(values.size());
        const auto size = static_cast<std::size_t>(ranks->size());
        std::vector<float> all(values.size() * size);
        const std::vector<std::int64_t> counts(size, count);
        ranks->gather({all.data(), DType::f32, std::ssize(all)}, {values.data(), DType::f32, count},
                      counts);
        for (std::size_t i = 0; i < all.size(); ++i) {
            float& largest = values[i % values.size()];
            largest = std::max(largest, all[i]);
        }
    });
}

/// Whether gradients of weights that have a 16-bit copy stay in its type: gradient check and update
/// read any type, and the values are the same, so this saves a cast of each. Not where the gradient
/// is an operand of further arithmetic in its own type (clipping by value, the exchange between
/// ranks, a gradient penalty), nor where an optimizer's check covers one of several phases alone
/// (the range of f16 gradients needs all).
bool TrainStep::keeps_low_gradients(const RunConfig& config) const {
    return !shared_ && config.clip.kind != ClipKind::value && config.gradient_penalty == 0 &&
           forward_backward_.phases().size() <= update_.optimizers().size();
}

void TrainStep::begin(std::size_t batches, std::span<const std::int64_t> terms) {
    kernels::StepBeginning first;
    forward_backward_.begin(first, batches, terms);
    update_.begin(first);
    on(device_, kernels::cpu::begin_step, kernels::cuda::begin_step)(first, current_stream());
}

void TrainStep::compute(std::size_t batches, const BatchSupply& supply, StepMarks* marks) {
    begin(batches, supply.terms);
    const LowGradients low(low_gradients_);
    const StepObservers::Observation observed(observers_);
    const std::span<const Phase> phases = forward_backward_.phases();
    for (std::size_t i = 0; i < phases.size(); ++i) {
        const bool last = i + 1 == phases.size();
        forward_backward_.run(i, supply, marks);
        update_.complete(phases[i]);
        observers_.notify(
            i, 0, [](StepObserver& each, const StepView& step) { each.before_update(step); });
        update_.check(phases[i]);
        if (last && shared_) forward_backward_.share_figures();
        update_.step(phases[i]);
        observers_.notify(
            i, 0, [](StepObserver& each, const StepView& step) { each.after_update(step); });
    }
    end();
    forward_backward_.release();
}

/// The figures of the step, the scale of the next one, and the step's number, by one kernel.
void TrainStep::end() {
    kernels::StepEnding last;
    forward_backward_.end(last);
    const Tensor found_inf = update_.end(last);
    last.after.deferred_error = deferred_error_word_of(device_);
    last.slots = slots_;
    on(device_, kernels::cpu::end_step, kernels::cuda::end_step)(figures_.data(), last,
                                                                 current_stream());
    if (QuantizedLayers* const layers = precision_.quantized()) layers->end_step();
}

void TrainStep::forget_captured() {
    update_.forget_captured();
    forward_backward_.release();
}

}  // namespace engine
