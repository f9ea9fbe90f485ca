#include "instruments/skips/skip_verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/number/figure_text.h"
#include "tensor/dtype.h"
#include "train/run/advice.h"

namespace engine {
namespace {

/// The largest finite value of a type.
double range_of(const std::string& dtype) { return dtype == "f16" ? 65504 : 3.3895e38; }

bool is_low_name(const std::string& dtype) { return dtype == "f16" || dtype == "bf16"; }

/// Whether the first tensor is a 16-bit infinity whose true value is finite and out of the type's
/// range. A pole, such as the reciprocal of a value that was rounded to 0, is not an overflow: FP32
/// gives a small value there.
bool is_overflow(const BadTensor& first, double largest_in_f32) {
    if (!is_low_name(first.tensor.dtype) || first.infinite == 0) return false;
    if (std::isfinite(largest_in_f32))
        return largest_in_f32 > range_of(first.tensor.dtype) * (1 - 0x1p-6);
    // FP32 has no such tensor: an infinity from finite values is taken for an overflow.
    return std::isnan(largest_in_f32) &&
           std::ranges::all_of(
               first.inputs, [](const TensorGlance& each) { return std::isfinite(each.largest); });
}

/// Operations that may be infinite where their inputs are finite, in any precision.
bool has_pole(const std::string& op) {
    constexpr std::array names = {"addcdiv", "atanh",      "div",       "kl_div",  "log",  "log10",
                                  "log1p",   "log2",       "normalize", "pow",     "pow_", "rdiv",
                                  "rpow",    "reciprocal", "rsqrt",     "rtruediv"};
    return std::ranges::find(names, op) != names.end();
}

/// Whether a tensor has overflowed, without a reference value: an infinity in 16 bits, from finite
/// inputs, of an operation without poles.
bool must_be_overflow(const BadTensor& first) {
    return is_low_name(first.tensor.dtype) && first.infinite > 0 && !has_pole(first.op) &&
           std::ranges::all_of(
               first.inputs, [](const TensorGlance& each) { return std::isfinite(each.largest); });
}

std::string place_of(const BadTensor& what) {
    std::string out = what.name.empty() ? what.module : what.name;
    if (what.name.empty() && !what.op.empty()) out += (out.empty() ? "" : ": ") + what.op;
    return out;
}

class Tests {
public:
    explicit Tests(const StepEvidence& evidence) : e_(evidence), first_(evidence.trace.first()) {}

    std::vector<SkipTest> run() {
        damaged_state();
        bad_input();
        forward_overflow();
        mathematical();
        scale_too_large();
        optimizer();
        return std::move(tests_);
    }

private:
    void add(SkipCause cause, bool found, Message finding) {
        decided_ = decided_ || found;
        tests_.push_back({cause, found, std::move(finding)});
    }
    bool first_is(SkipStage stage) const { return first_ && first_->stage == stage; }

    void damaged_state() {
        const auto bad = e_.trace.bad_state();
        if (bad.empty())
            return add(SkipCause::damaged_state, false,
                       msg("Weights, buffers, carried and optimizer state were finite before the "
                           "step."));
        const BadTensor& named = first_is(SkipStage::state) ? *first_ : bad.front();
        const std::int64_t values = named.infinite + named.nan;
        if (first_is(SkipStage::state) || reached_by_the_update(bad))
            return add(SkipCause::damaged_state, true,
                       msg("{} had {} non-finite values before the step.", named.name, values));
        add(SkipCause::damaged_state, false,
            msg("{} had {} non-finite values before the step, which did not affect it.", named.name,
                values));
    }
    /// Masters and moments reach a weight in the optimizer, which records no operations.
    bool reached_by_the_update(const std::vector<BadTensor>& bad) const {
        return first_is(SkipStage::update) && std::ranges::any_of(bad, [&](const BadTensor& each) {
                   return each.name.starts_with(first_->name + ".");
               });
    }

    void bad_input() {
        const auto bad = e_.trace.bad_batch();
        if (bad.empty())
            return add(
                SkipCause::bad_input, false,
                msg("The batch is finite; its largest magnitude is {}.",
                    figure_text(e_.trace.largest_input())));
        const BadTensor& named = first_is(SkipStage::batch) ? *first_ : bad.front();
        add(SkipCause::bad_input, !decided_ && first_is(SkipStage::batch),
            msg("{}: {} values of the batch are not finite.", named.name,
                named.infinite + named.nan));
    }

    /// Whether a value overflows in the forward pass, or in the backward pass where no scale helps,
    /// which has the same remedy.
    bool overflows() const {
        if (e_.cast_by_hand) return first_is(SkipStage::forward) && must_be_overflow(*first_);
        if (!e_.shadow_is_finite || !is_computed()) return false;
        if (first_is(SkipStage::forward)) return is_overflow(*first_, e_.largest_in_f32);
        return !some_scale_passes() && is_overflow(*first_, e_.largest_in_f32 / e_.scale);
    }
    void forward_overflow() {
        const bool found = !decided_ && overflows();
        if (found && e_.cast_by_hand)
            return add(SkipCause::forward_overflow, true,
                       msg("{} overflowed {}, to which the model casts explicitly.",
                           place_of(*first_), first_->tensor.dtype));
        if (found)
            return add(SkipCause::forward_overflow, true,
                       msg("{} overflowed {}; in FP32 its largest magnitude is {}.",
                           place_of(*first_), first_->tensor.dtype,
                           figure_text(e_.largest_in_f32)));
        add(SkipCause::forward_overflow, false,
            msg("The largest finite activation is {}.",
                figure_text(e_.trace.largest_activation())));
    }

    bool is_computed() const {
        return first_is(SkipStage::forward) || first_is(SkipStage::backward);
    }
    bool some_scale_passes() const {
        return std::ranges::any_of(e_.ladder, [](const StepTrial& each) { return each.passes; });
    }
    void mathematical() {
        const bool undecided = !decided_ && is_computed();
        if (!e_.shadow_is_finite)
            return add(SkipCause::mathematical, undecided,
                       msg("The step is not finite in FP32, either."));
        if (undecided && !(first_is(SkipStage::backward) && some_scale_passes()))
            return add(SkipCause::mathematical, true,
                       msg("{} is not finite although its true value is within the range of {}.",
                           place_of(*first_), first_->tensor.dtype));
        add(SkipCause::mathematical, false, msg("The step is finite in FP32."));
    }

    void scale_too_large() {
        if (!e_.has_scaler)
            return add(SkipCause::scale_too_large, false, msg("There is no loss scale."));
        const auto passes = std::ranges::find(e_.ladder, true, &StepTrial::passes);
        if (!decided_ && first_is(SkipStage::backward) && passes != e_.ladder.end())
            return add(SkipCause::scale_too_large, true,
                       msg("Loss and FP32 gradients are finite; at scale {} the step passes.",
                           power_text(passes->scale)));
        if (!e_.ladder.empty() && passes == e_.ladder.end())
            return add(SkipCause::scale_too_large, false,
                       msg("The step fails at scale {}, too.",
                           power_text(e_.ladder.back().scale)));
        add(SkipCause::scale_too_large, false,
            e_.trace.gradients_are_finite() ? msg("The scaled gradients are finite.")
                                            : msg("The fault is not in the scaled gradients."));
    }

    void optimizer() {
        if (!e_.trace.gradients_are_finite())
            return add(SkipCause::optimizer, false,
                       msg("The gradients are not finite before the update."));
        if (!decided_ && first_is(SkipStage::update))
            return add(
                SkipCause::optimizer, true,
                msg("The gradients are finite; after the update {} has {} non-finite values.",
                    first_->name, first_->infinite + first_->nan));
        add(SkipCause::optimizer, false, msg("Gradients and updated weights are finite."));
    }

    const StepEvidence& e_;
    std::optional<BadTensor> first_;
    std::vector<SkipTest> tests_;
    bool decided_ = false;
};

}  // namespace

std::vector<SkipTest> skip_tests(const StepEvidence& evidence) { return Tests(evidence).run(); }

SkipCause find_cause(const std::vector<SkipTest>& tests) {
    const auto found = std::ranges::find(tests, true, &SkipTest::found);
    return found == tests.end() ? SkipCause::unknown : found->cause;
}

Message advice_for(SkipCause cause, const SkipReport& report) {
    switch (cause) {
        case SkipCause::unknown:
            return msg("The step is finite when it is computed again; there is nothing to fix.");
        case SkipCause::damaged_state:
            if (report.damaged_at == 1)
                return msg("Fix the cause in step 1, which damaged it, and start the run again.");
            if (report.damaged_at > 0)
                return msg(
                    "Resume from a checkpoint before step {} and fix the cause in that step.",
                    report.damaged_at);
            return msg("Resume from an earlier checkpoint whose state is finite.");
        case SkipCause::bad_input:
            return non_finite_input_advice();
        case SkipCause::forward_overflow:
            return forward_overflow_advice();
        case SkipCause::mathematical:
            return msg("Guard {} against its argument, for instance with a larger epsilon.",
                       report.first ? place_of(*report.first) : std::string());
        case SkipCause::scale_too_large:
            return report.skipped
                       ? msg("There is nothing to fix: the scaler lowers the scale by itself.")
                       : static_scale_advice(power_text(report.passing_scale));
        case SkipCause::optimizer:
            return msg("Give the optimizer a larger epsilon or a lower learning rate.");
    }
    return {};
}

Message advice_in_run(const SkipReport& report, const RunConfig& config,
                      const StepRecordReader& record) {
    const bool forward = report.cause == SkipCause::forward_overflow;
    if (!forward && report.cause != SkipCause::mathematical) return report.advice;
    constexpr std::int64_t few = 512;  // enough for the first losses and for the last ones
    const std::int64_t end = std::min(report.step, record.size());
    FaultCourse course(config);
    for (std::int64_t row = 0; row < end; ++row) {
        if (row == few) row = std::max(row, end - few);
        course.see(record.row(row));
    }
    return forward || course.grew() ? course.advice() : report.advice;
}

}  // namespace engine
