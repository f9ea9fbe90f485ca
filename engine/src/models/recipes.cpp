#include "models/recipes.h"

#include <string>
#include <utility>
#include <vector>

namespace engine {

// Sources: Transformer Engine's DelayedScaling, Float8CurrentScaling and Float8BlockScaling,
// torchao's rowwise recipe, MXFP8 as both have it, and NVFP4BlockScaling.
Recipe make_recipe(RecipeKind kind) {
    using enum RecipeKind;
    constexpr kernels::FloatLayout e4m3 = kernels::fp8_e4m3_layout,
                                   e2m1 = kernels::fp4_e2m1_layout;
    switch (kind) {
        case fp8_delayed:
            return {.rule = ScaleRule::delayed};
        case fp8_rowwise:
            return {.rule = ScaleRule::row, .gradient = e4m3};
        case fp8_block:
            return {.rule = ScaleRule::block,
                    .gradient = e4m3,
                    .block = 128,
                    .square_weights = true};
        case mxfp8:
            return {.rule = ScaleRule::mx, .gradient = e4m3, .block = 32};
        case nvfp4:
            return {.rule = ScaleRule::nvfp4,
                    .forward = e2m1,
                    .gradient = e2m1,
                    .block = 16,
                    .square_weights = true,
                    .random_gradients = true,
                    .rotates_rows = true};
        case mxfp4:
            return {.rule = ScaleRule::mx,
                    .forward = e2m1,
                    .gradient = e2m1,
                    .block = 32,
                    .random_gradients = true};
        case none:
        case fp8_current:
            break;
    }
    return {.rule = ScaleRule::tensor};
}

std::unique_ptr<QuantizedLayers> make_quantized_layers(RecipeKind kind, const Model& model,
                                                       std::int64_t seed) {
    if (kind == RecipeKind::none) return nullptr;
    std::vector<std::string> kept = model.heads;
    if (kind == RecipeKind::nvfp4) {
        // Transformer Engine's advice: the last 16 % of the blocks, rounded to whole blocks.
        const std::size_t last = (16 * model.blocks.size() + 50) / 100;
        kept.insert(kept.end(), model.blocks.end() - static_cast<std::ptrdiff_t>(last),
                    model.blocks.end());
    }
    return std::make_unique<QuantizedLayers>(make_recipe(kind), std::move(kept), model.modules,
                                             seed);
}

}  // namespace engine
