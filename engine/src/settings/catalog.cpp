#include "engine/settings/catalog.h"

namespace engine {

namespace {

/// The rows of interfaces.md, section 1.
std::vector<PrecisionDescriptor> precision_rows() {
    using enum WeightFormat;
    constexpr AutocastFormat off = AutocastFormat::off;
    const Message breaks =
        msg("Shows what breaks: small updates vanish without fp32 master weights.");
    const auto row = [](const char* kind, const char* title, const char* summary,
                        const ResolvedPrecision& settings, std::uint32_t light, std::uint32_t dark,
                        const Message& on_cpu = {}, const Message& on_gpu = {}) {
        return PrecisionDescriptor{kind, title, summary, settings, light, dark, on_cpu, on_gpu};
    };
    const auto with_recipe = [](RecipeKind recipe) {
        return ResolvedPrecision{fp32, AutocastFormat::bf16, fp32, false, ScalerMode::off, false,
                                 {},   recipe};
    };
    const Message emulated =
        msg("Emulated: the same codes as on a card, slower than AMP BF16. Says nothing "
            "about a card's speed.");
    const Message on_cpu_alone = msg("Recipes in 8 and 4 bits are computed on a CPU.");
    return {
        row("fp32", "FP32", "Everything in fp32: the baseline for the other precisions.",
            {fp32, off, fp32, false, ScalerMode::off}, 0x2b6cb0, 0x6cb2ff,
            msg("The baseline: every processor computes in fp32."),
            msg("The baseline: full fp32 arithmetic, TF32 switched off.")),
        row("tf32", "TF32",
            "fp32 with matrix products in TensorFloat-32: the range of fp32 and 10 fraction bits. "
            "Needs an NVIDIA Ampere or newer GPU.",
            {fp32, off, fp32, false, ScalerMode::off, true}, 0x5f6b7a, 0xa9b4c2,
            msg("TF32 is a mode of NVIDIA Tensor Cores and needs CUDA; a CPU does not have it.")),
        row("amp-fp16", "AMP FP16",
            "Matrix products and convolutions in fp16, weights in fp32. The loss is scaled so that "
            "small gradients survive.",
            {fp32, AutocastFormat::fp16, fp32, false, ScalerMode::dynamic}, 0xbf5600, 0xff9f4a),
        row("amp-bf16", "AMP BF16",
            "As AMP FP16, but in bfloat16: the range of fp32 and 7 fraction bits, so no loss "
            "scaling is needed.",
            {fp32, AutocastFormat::bf16, fp32, false, ScalerMode::off}, 0x0b7a5b, 0x3ccba0),
        row("o2-fp16", "O2 FP16",
            "The whole model in fp16, with batch norm and master weights in fp32 and a scaled "
            "loss. Nearly everything takes half the memory.",
            {fp16, off, fp32, true, ScalerMode::dynamic}, 0x8349ca, 0xd6a8e6,
            msg("No time saved on a CPU: products are computed in fp32. Weights and activations "
                "take half the memory, apart from the fp32 masters.")),
        row("pure-fp16", "Pure FP16",
            "Weights, batch norm and updates in fp16, without loss scaling. Shows what breaks "
            "without mixed precision.",
            {fp16, off, fp16, false, ScalerMode::off}, 0xa61e4d, 0xff7ba5, breaks, breaks),
        row("fp8-delayed", "FP8 delayed",
            "As AMP BF16, with the products of linear layers in FP8: E4M3 forward, E5M2 backward. "
            "A tensor's scale follows from its largest values in earlier steps.",
            with_recipe(RecipeKind::fp8_delayed), 0x424fcc, 0x8f95ff, emulated, on_cpu_alone),
        row("fp8-current", "FP8 current",
            "As FP8 delayed, with the scale of each tensor from its own largest value.",
            with_recipe(RecipeKind::fp8_current), 0x007a99, 0x35c8e8, emulated, on_cpu_alone),
        row("fp8-rowwise", "FP8 rowwise",
            "As AMP BF16, with the products of linear layers in FP8 E4M3 and a scale for each row "
            "of their operands.",
            with_recipe(RecipeKind::fp8_rowwise), 0x6b7300, 0xc3cf3d, emulated, on_cpu_alone),
        row("fp8-rowwise-gw", "FP8 rowwise GW",
            "As FP8 rowwise, with the gradients of weights from products in BF16.",
            with_recipe(RecipeKind::fp8_rowwise_gw), 0x4b7f22, 0x8fd14f, emulated, on_cpu_alone),
        row("fp8-block", "FP8 blocks",
            "As AMP BF16, with the products of linear layers in FP8 E4M3 and a scale for each 128 "
            "values, or 128 × 128 of a weight.",
            with_recipe(RecipeKind::fp8_block), 0x94526f, 0xe3a7bf, emulated, on_cpu_alone),
        row("mxfp8", "MXFP8",
            "As AMP BF16, with the products of linear layers in FP8 E4M3 and a power of two as the "
            "scale of each 32 values.",
            with_recipe(RecipeKind::mxfp8), 0xb4009e, 0xf37be0, emulated, on_cpu_alone),
        row("nvfp4", "NVFP4",
            "As AMP BF16, with the products of linear layers in FP4: an FP8 scale for each 16 "
            "values and an FP32 scale of the tensor; gradients are rounded at random.",
            with_recipe(RecipeKind::nvfp4), 0x7a4a12, 0xd0a05a, emulated, on_cpu_alone),
        row("mxfp4", "MXFP4",
            "As MXFP8, with FP4 and gradients that are rounded at random.",
            with_recipe(RecipeKind::mxfp4), 0x8f6b00, 0xf0cf4a, emulated, on_cpu_alone),
    };
}

}  // namespace

std::span<const PrecisionDescriptor> precisions() {
    static const std::vector<PrecisionDescriptor> all = precision_rows();
    return all;
}

const std::string& baseline_precision() { return precisions().front().kind; }

std::vector<std::string> default_precisions() {
    return {baseline_precision(), PrecisionConfig{}.preset};
}

std::vector<std::string> amp_precisions() {
    std::vector<std::string> kinds;
    for (const PrecisionDescriptor& each : precisions()) {
        if (each.settings.autocast == AutocastFormat::off ||
            each.settings.recipe != RecipeKind::none)
            continue;
        const bool scales = each.settings.scaler != ScalerMode::off;
        kinds.insert(scales ? kinds.end() : kinds.begin(), each.kind);
    }
    return kinds;
}

bool computes_in_bf16(std::string_view preset) {
    const PrecisionDescriptor* const found = find_kind(precisions(), preset);
    return found != nullptr && found->settings.autocast == AutocastFormat::bf16;
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
             classroom, true},
        };
    }();
    return infos;
}

}  // namespace engine
