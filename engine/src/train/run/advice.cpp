#include "train/run/advice.h"

#include <cmath>

namespace engine {

Message forward_overflow_advice() {
    return msg(
        "Bring the inputs into a smaller range, keep what overflows in FP32, or train in bf16 or "
        "fp32; a lower loss scale does not help.");
}

Message non_finite_input_advice() {
    return msg(
        "Look for a NaN, an infinity or a huge number in the data and fix or remove that sample; no "
        "loss scale or precision helps.");
}

Message static_scale_advice(const std::string& fitting) {
    return fitting.empty() ? msg("Lower the static scale or use a dynamic one.")
                           : msg("Lower the static scale to {} or use a dynamic one.", fitting);
}

Message applied_overflow_advice(const RunConfig& config) {
    return resolve(config.precision).scaler == ScalerMode::constant ? static_scale_advice({})
                                                                    : divergence_advice(config);
}

void FaultCourse::see(const StepRecord& row) {
    if (first_step_ == 0) first_step_ = row.step;
    overflowed_ = overflowed_ || outcome_of(row) == StepOutcome::overflowed;
    updates_ = row.updates;
    if (!std::isfinite(row.loss)) return;
    if (std::isnan(first_loss_)) first_loss_ = row.loss;
    last_loss_ = row.loss;
}

bool FaultCourse::grew() const {
    return updates_ > 0 && last_loss_ > 10 * std::fabs(first_loss_);
}

bool FaultCourse::was_learning() const { return updates_ > 0 && last_loss_ < first_loss_; }

Message FaultCourse::advice() const {
    if (overflowed_) return applied_overflow_advice(config_);
    // The first losses of a run that went on from a checkpoint are not known.
    const bool began = std::isfinite(first_loss_) || first_step_ > 1;
    const bool blames_the_rate =
        updates_ > 0 && began && !(resolve(config_.precision).computes_in_fp16() && was_learning());
    return non_finite_loss_advice(config_, blames_the_rate);
}

Message divergence_advice(const RunConfig& config) {
    const ResolvedPrecision precision = resolve(config.precision);
    if (precision.scaler == ScalerMode::constant) {
        return msg(
            "Lower optimizer.lr or scaler.init_scale, or use a dynamic scaler, which skips "
            "the steps whose gradients overflow.");
    }
    if (precision.weights == WeightFormat::fp16 && !precision.master_weights) {
        return msg(
            "Train in amp-fp16, which keeps the weights and delicate operations in fp32, or "
            "lower optimizer.lr.");
    }
    if (config.clip.kind == ClipKind::norm) return msg("Lower optimizer.lr or clip.value.");
    return msg("Lower optimizer.lr, or clip the gradients with clip.kind norm.");
}

Message non_finite_loss_advice(const RunConfig& config, bool updated) {
    if (updated) return divergence_advice(config);
    return resolve(config.precision).computes_in_fp16() ? forward_overflow_advice() : non_finite_input_advice();
}

// A translation has whole messages, so the advice stands here once more.
Message idle_epoch_warning(const RunConfig& config, std::int64_t epoch, std::int64_t steps) {
    if (resolve(config.precision).computes_in_fp16())
        return msg(
            "No update was applied in epoch {}: all {} steps were skipped, since the loss itself "
            "was not finite. Bring the inputs into a smaller range, keep what overflows in FP32, or "
            "train in bf16 or fp32; a lower loss scale does not help.",
            epoch, steps);
    return msg(
        "No update was applied in epoch {}: all {} steps were skipped, since the loss itself was "
        "not finite. Look for a NaN, an infinity or a huge number in the data and fix or remove "
        "that sample; no loss scale or precision helps.",
        epoch, steps);
}

}  // namespace engine
