#include "engine/settings/catalog.h"

namespace engine {

std::span<const PrecisionDescriptor> precisions() {
    // The rows of interfaces.md, section 1, that this version runs.
    static const std::vector<PrecisionDescriptor> infos = {
        {"fp32",
         "FP32",
         "Everything in fp32: the baseline for the other precisions.",
         {WeightFormat::fp32, AutocastFormat::off, WeightFormat::fp32, false, ScalerMode::off}},
        {"tf32",
         "TF32",
         "fp32 with matrix products in TensorFloat-32: the range of fp32 and 10 fraction bits. "
         "Needs an NVIDIA Ampere or newer GPU.",
         {WeightFormat::fp32, AutocastFormat::off, WeightFormat::fp32, false, ScalerMode::off,
          true}},
        {"amp-fp16",
         "AMP FP16",
         "Matrix products and convolutions in fp16, weights in fp32. The loss is scaled so that "
         "small gradients survive.",
         {WeightFormat::fp32, AutocastFormat::fp16, WeightFormat::fp32, false,
          ScalerMode::dynamic}},
        {"amp-bf16",
         "AMP BF16",
         "As AMP FP16, but in bfloat16: the range of fp32 and 7 fraction bits, so no loss scaling "
         "is needed.",
         {WeightFormat::fp32, AutocastFormat::bf16, WeightFormat::fp32, false, ScalerMode::off}},
        {"o2-fp16",
         "O2 FP16",
         "The whole model in fp16, with batch norm and master weights in fp32 and a scaled loss. "
         "Nearly everything takes half the memory.",
         {WeightFormat::fp16, AutocastFormat::off, WeightFormat::fp32, true, ScalerMode::dynamic}},
        {"pure-fp16",
         "Pure FP16",
         "Weights, batch norm and updates in fp16, without loss scaling. Shows what breaks without "
         "mixed precision.",
         {WeightFormat::fp16, AutocastFormat::off, WeightFormat::fp16, false, ScalerMode::off}},
    };
    return infos;
}

std::span<const ScalerDescriptor> scaler_presets() {
    static const std::vector<ScalerDescriptor> infos = [] {
        ScalerConfig classroom;
        classroom.preset = "classroom";
        classroom.growth_interval = 25;
        return std::vector<ScalerDescriptor>{
            {"production", "Production",
             "PyTorch's values: the scale doubles after 2,000 overflow-free steps.",
             ScalerConfig{}},
            {"classroom", "Classroom",
             "The scale doubles after only 25 overflow-free steps, so that growth and overflow "
             "show in a short run. Not for production: it skips too many steps.",
             classroom},
        };
    }();
    return infos;
}

}  // namespace engine
