#include "train/advice.h"

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
    return msg("Lower the static scale to {} or use a dynamic one.", fitting);
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
    return computes_in_fp16(config) ? forward_overflow_advice() : non_finite_input_advice();
}

// A translation has whole messages, so the advice stands here once more.
Message idle_epoch_warning(const RunConfig& config, std::int64_t epoch, std::int64_t steps) {
    if (computes_in_fp16(config))
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

bool computes_in_fp16(const RunConfig& config) {
    const ResolvedPrecision precision = resolve(config.precision);
    return precision.weights == WeightFormat::fp16 || precision.autocast == AutocastFormat::fp16;
}

}  // namespace engine
