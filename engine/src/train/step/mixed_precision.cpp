#include "train/step/mixed_precision.h"

#include "engine/base/error.h"
#include "tensor/cast.h"

namespace engine {
namespace {

DType to_dtype(AutocastFormat format) {
    if (format == AutocastFormat::off) return DType::f32;
    return format == AutocastFormat::fp16 ? DType::f16 : DType::bf16;
}

std::unique_ptr<QuantizedLayers> quantized_layers(const ResolvedPrecision& precision,
                                                  const Model& model, const Device& device,
                                                  const RecipeSettings& recipes) {
    if (precision.has_recipe() && device.kind != Device::Kind::cpu)
        throw Error(ErrorCode::device, msg("Recipes in 8 and 4 bits are computed on a CPU."),
                    msg("Set device to cpu."));
    return make_quantized_layers(precision, model, recipes);
}

}  // namespace

MixedPrecision::MixedPrecision(const ResolvedPrecision& precision, const ScalerConfig& scaler,
                               Model& model, const Device& device,
                               std::unique_ptr<LossScaler> broken, const RecipeSettings& recipes)
    : force_(force_rules(precision.force, model.modules)),
      quantized_(quantized_layers(precision, model, device, recipes)),
      scaler_(broken ? std::move(broken)
                     : std::make_unique<LossScaler>(precision.scaler, scaler, device)),
      watches_f16_(precision.scaler != ScalerMode::off && precision.computes_in_fp16()) {
    if (precision.weights == WeightFormat::fp16) {
        convert_weights(model, DType::f16, precision.batch_norm != WeightFormat::fp16);
        casts_.inputs = DType::f16;
        casts_.outputs_to_f32 = precision.master_weights;
    }
    if (precision.autocast != AutocastFormat::off)
        region_.emplace(device.kind, true, to_dtype(precision.autocast));
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

}  // namespace engine
