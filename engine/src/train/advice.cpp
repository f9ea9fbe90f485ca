#include "train/advice.h"

namespace engine {

Message forward_overflow_advice() {
    return msg(
        "Bring the inputs into a smaller range, keep what overflows in FP32, or train in bf16 or "
        "fp32; a lower loss scale does not help.");
}

Message non_finite_input_advice() {
    return msg("Look for a NaN, an infinity or a huge number in the data.");
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

}  // namespace engine
