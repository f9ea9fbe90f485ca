#include "train/step/mixed_precision.h"

#include "amp/opt_level.h"
#include "ops/pointwise/binary.h"
#include "tensor/cast.h"
#include "train/step/forced_types.h"

namespace engine {
namespace {

DType dtype_of(AutocastFormat format) {
    if (format == AutocastFormat::off) return DType::f32;
    return format == AutocastFormat::fp16 ? DType::f16 : DType::bf16;
}

ScalerOptions options_of(const ScalerConfig& config, bool enabled) {
    return {.init_scale = config.init_scale,
            .growth_factor = config.growth_factor,
            .backoff_factor = config.backoff_factor,
            .growth_interval = config.growth_interval,
            .enabled = enabled,
            .min_scale = config.min_scale,
            .max_scale = config.max_scale,
            .hysteresis = static_cast<int>(config.hysteresis)};
}

}  // namespace

MixedPrecision::MixedPrecision(const ResolvedPrecision& precision, const ScalerConfig& scaler,
                               Model& model, const Device& device)
    : force_(force_rules(precision.force, model.modules)),
      scaler_(options_of(scaler, precision.scaler == ScalerMode::dynamic)),
      watches_f16_(
          precision.scaler != ScalerMode::off &&
          (precision.autocast == AutocastFormat::fp16 || precision.weights == WeightFormat::fp16)) {
    const OptProperties level = properties_of(precision);
    if (const auto type = level.cast_model_type; type && is_low(*type)) {
        convert_weights(model, *type, level.keep_batchnorm_fp32.value_or(false));
        casts_.inputs = type;
    }
    casts_.outputs_to_f32 = level.master_weights.value_or(false);
    if (level.patch_functions) region_.emplace(device.kind, true, dtype_of(precision.autocast));
    if (precision.scaler == ScalerMode::constant)
        static_scale_ = Tensor::full({}, scaler.init_scale, DType::f32, device);
}

void MixedPrecision::attach_low_copies(const Model& model) const {
    if (!region_ || !region_->enabled()) return;
    const UseScope use(MemoryUse::cast_cache);
    const GradMode off(false);
    for (const auto& parameter : model.parameters()) {
        if (!parameter.autocast_low || parameter.tensor.dtype() != DType::f32) continue;
        parameter.tensor.impl()->low_copy = std::make_shared<LowCopy>(
            LowCopy{to(parameter.tensor.detach(), region_->low()), parameter.tensor.version()});
    }
}

Tensor MixedPrecision::scaled(const Tensor& loss) {
    return static_scale_.defined() ? mul(loss, static_scale_) : scaler_.scale(loss);
}

Tensor MixedPrecision::loss_scale() const {
    return scaler_.is_enabled() ? scaler_.scale_tensor() : static_scale_;
}

}  // namespace engine
