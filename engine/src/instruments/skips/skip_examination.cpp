#include "instruments/skips/skip_examination.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "instruments/histograms/exponent_counters.h"
#include "instruments/replay/step_variant.h"
#include "instruments/skips/sample_shares.h"
#include "instruments/skips/skip_verdict.h"

namespace engine {
namespace {

std::optional<ExponentHistogram> tensor_histogram(const StepCapsule& capsule,
                                                  const RunConfig& config, const std::string& key) {
    CapsuleStep step(capsule, config);
    const auto trace = std::make_shared<NonfiniteTrace>(key);
    step.trainer().attach(trace);
    step.run();
    if (!trace->kept().defined()) return std::nullopt;
    ExponentCounters counters{Device{}};
    counters.add(0, trace->kept());
    return counters.read(1).front();
}

/// One computation of the step under a trace.
struct Traced {
    std::shared_ptr<NonfiniteTrace> trace = std::make_shared<NonfiniteTrace>();
    StepRecord row{};
    std::string device;

    bool is_finite() const { return trace->loss_is_finite() && trace->gradients_are_finite(); }
};

Traced traced(const StepCapsule& capsule, const RunConfig& config,
              const std::function<void(std::int64_t)>& operation) {
    Traced out;
    out.trace->report_to(operation);
    CapsuleStep step(capsule, config);
    step.trainer().attach(out.trace);
    out.row = step.run().row;
    out.device = to_string(step.trainer().device());
    return out;
}

/// Gradients are scaled in the step and not in its shadow.
double scaled_for(SkipStage stage, double value, double scale) {
    return stage == SkipStage::backward ? value * scale : value;
}

std::vector<ChainLink> make_chain(const Traced& step, const Traced& shadow, bool forward,
                                  double scale) {
    const auto& own = forward ? step.trace->forward_chain() : step.trace->backward_chain();
    const auto& other = forward ? shadow.trace->forward_chain() : shadow.trace->backward_chain();
    std::vector<ChainLink> out = own;
    for (ChainLink& link : out) {
        const auto same = std::ranges::find(other, link.module, &ChainLink::module);
        if (same == other.end()) continue;
        link.largest_in_f32 = forward ? same->largest : same->largest * scale;
        link.weights_in_f32 = forward ? same->weights : same->weights * scale;
    }
    return out;
}

/// The largest scale at which the step's f16 gradients do not overflow.
double scale_bound(const Traced& step, const Traced& shadow) {
    const double largest = step.trace->largest_f16_gradient_in(*shadow.trace);
    return largest > 0 ? 65504 / largest : std::numeric_limits<double>::quiet_NaN();
}

/// The FP32 replay has the first tensor in 16 bits as well.
bool is_cast_by_hand(const Traced& step, const Traced& shadow) {
    return shadow.trace->is_low(step.trace->first_key());
}

/// The magnitude of the first tensor in FP32. A cast does not exist there, but its input does.
double true_magnitude(const Traced& step, const Traced& shadow, double scale) {
    if (is_cast_by_hand(step, shadow)) return std::numeric_limits<double>::quiet_NaN();
    const BadTensor first = *step.trace->first();
    const double found = shadow.trace->largest(step.trace->first_key());
    if (!std::isnan(found)) return scaled_for(first.stage, found, scale);
    const bool is_cast = first.op == "to" && first.inputs.size() == 1;
    return is_cast && std::isfinite(first.inputs.front().largest)
               ? first.inputs.front().largest
               : std::numeric_limits<double>::quiet_NaN();
}

void fill_figures(SkipReport& report, const Traced& step, const Traced& shadow) {
    report.skipped = step.row.found_inf != 0;
    report.device = step.device;
    report.loss = static_cast<double>(step.row.loss);
    report.loss_scale = static_cast<double>(step.row.loss_scale);
    report.grad_norm = static_cast<double>(step.row.grad_norm);
    report.f32_loss = static_cast<double>(shadow.row.loss);
    report.f32_grad_norm = static_cast<double>(shadow.row.grad_norm);
    report.operations = step.trace->operations();
}

/// Tries smaller loss scales. They can only help against a fault of the backward pass, so a fault
/// of the forward pass is tried at the smallest scale alone.
void climb(SkipReport& report, const StepCapsule& capsule, SkipStage stage) {
    if (stage == SkipStage::backward) {
        report.ladder = scale_ladder(capsule, report.loss_scale);
    } else if (stage == SkipStage::forward) {
        StepVariant variant;
        variant.scale = 1;
        report.ladder = {try_step(capsule, variant)};
    }
    for (const StepTrial& each : report.ladder) {
        if (each.passes) report.passing_scale = each.scale;
    }
}

std::int64_t bytes_of(const StepCapsule& capsule) {
    std::size_t bytes = 0;
    for (const auto* const tensors :
         {&capsule.before.weights, &capsule.before.optimizer, &capsule.before.carried}) {
        for (const auto& [name, tensor] : *tensors) bytes += tensor.bytes();
    }
    for (const Batch& batch : capsule.batches) {
        for (const BatchField& field : batch.fields) bytes += field.bytes.size();
    }
    return static_cast<std::int64_t>(bytes);
}

}  // namespace

std::optional<TensorHistograms> first_tensor_histograms(const StepCapsule& capsule,
                                                        const NonfiniteTrace& trace,
                                                        const SkipReport& report) {
    const std::string key = trace.first_key();
    if (key.empty() || !report.first) return std::nullopt;
    TensorHistograms out;
    out.in_f32 = report.first->stage != SkipStage::backward || !(report.loss_scale > 1);
    out.scale = report.loss_scale;
    out.other_scale = out.in_f32                            ? 1
                      : std::isfinite(report.passing_scale) ? report.passing_scale
                                                            : std::max(1.0, out.scale / 2);
    const auto before = tensor_histogram(capsule, capsule.config, key);
    const StepCapsule other = with_scale(capsule, out.other_scale);
    const auto after =
        tensor_histogram(other, out.in_f32 ? fp32_settings(other.config) : other.config, key);
    if (!before || !after) return std::nullopt;
    out.before = *before;
    out.after = *after;
    return out;
}

SkipReport examine_step(const StepCapsule& capsule, const ExaminationOptions& options) {
    SkipReport report;
    report.step = capsule.step();
    report.precision = capsule.config.precision.preset;
    options.progress(msg("Computing the step with a check after every operation"));
    const Traced step = traced(capsule, capsule.config, options.operation);
    options.progress(msg("Computing the step in FP32"));
    const Traced shadow = traced(capsule, fp32_settings(capsule.config), [](std::int64_t) {});
    fill_figures(report, step, shadow);
    report.first = step.trace->first();
    const SkipStage stage = report.first ? report.first->stage : SkipStage::backward;
    if (report.first)
        report.first->largest_in_f32 = true_magnitude(step, shadow, report.loss_scale);
    const bool forward = stage == SkipStage::forward || stage == SkipStage::batch;
    report.chain = make_chain(step, shadow, forward, report.loss_scale);
    // No scale mends a fault of the forward pass.
    if (stage == SkipStage::backward) report.scale_bound = scale_bound(step, shadow);
    const bool has_scaler = resolve(capsule.config.precision).scaler != ScalerMode::off;
    if (has_scaler && report.first) {
        options.progress(msg("Computing the step at smaller loss scales"));
        climb(report, capsule, stage);
    }
    report.tests = skip_tests({.trace = *step.trace,
                               .scale = report.loss_scale,
                               .has_scaler = has_scaler,
                               .shadow_is_finite = shadow.is_finite(),
                               .ladder = report.ladder,
                               .cast_by_hand = is_cast_by_hand(step, shadow),
                               .largest_in_f32 = report.first ? report.first->largest_in_f32 : 0});
    report.cause = find_cause(report.tests);
    report.capsule_bytes = bytes_of(capsule);
    if (report.first) report.histograms = first_tensor_histograms(capsule, *step.trace, report);
    if (options.samples && report.first) {
        options.progress(msg("Looking for the samples that it comes from"));
        SampleShares shares =
            sample_shares(capsule, *step.trace, report.loss_scale,
                          {options.max_samples, options.patience_s,
                           [&options, &report] { options.operation(report.operations); }});
        report.samples = std::move(shares.samples);
        report.samples_note = std::move(shares.note);
    }
    report.advice = advice_for(report.cause, report);
    return report;
}

}  // namespace engine
