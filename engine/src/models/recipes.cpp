#include "models/recipes.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/models/recipe_info.h"

namespace engine {

// Sources: Transformer Engine's DelayedScaling, Float8CurrentScaling and Float8BlockScaling,
// torchao's rowwise recipe, MXFP8 as both have it, and NVFP4BlockScaling.
Recipe make_recipe(RecipeKind kind) {
    using enum RecipeKind;
    constexpr kernels::FloatLayout e4m3 = kernels::fp8_e4m3_layout,
                                   e2m1 = kernels::fp4_e2m1_layout;
    switch (kind) {
        case fp8_delayed:
            return {.rule = ScaleBasis::delayed};
        case fp8_rowwise:
            return {.rule = ScaleBasis::row, .gradient = e4m3};
        case fp8_block:
            return {.rule = ScaleBasis::block,
                    .gradient = e4m3,
                    .block = 128,
                    .square_weights = true};
        case mxfp8:
            return {.rule = ScaleBasis::mx, .gradient = e4m3, .block = 32};
        case nvfp4:
            return {.rule = ScaleBasis::nvfp4,
                    .forward = e2m1,
                    .gradient = e2m1,
                    .block = 16,
                    .square_weights = true,
                    .random_gradients = true,
                    .rotates_rows = true};
        case mxfp4:
            return {.rule = ScaleBasis::mx,
                    .forward = e2m1,
                    .gradient = e2m1,
                    .block = 32,
                    .random_gradients = true};
        case none:
        case fp8_current:
            break;
    }
    return {.rule = ScaleBasis::tensor};
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

namespace {

std::string format_title(kernels::FloatLayout layout) {
    return 'E' + std::to_string(layout.exponent_bits) + 'M' + std::to_string(layout.fraction_bits);
}

std::string scale_words(const Recipe& recipe) {
    const std::string block = std::to_string(recipe.block);
    const std::string square =
        recipe.square_weights ? ", or " + block + " x " + block + " of a weight" : "";
    switch (recipe.rule) {
        case ScaleBasis::tensor:
            return "a tensor: largest value / amax";
        case ScaleBasis::delayed:
            return "a tensor: largest value / the largest amax of the last " +
                   std::to_string(recipe.history) + " steps";
        case ScaleBasis::row:
            return "a vector along the contraction: largest value / amax, rounded down to a power "
                   "of two";
        case ScaleBasis::block:
            return block + " values along the contraction" + square +
                   ": largest value / amax, rounded down to a power of two";
        case ScaleBasis::mx:
            return block + " values along the contraction: amax / largest value, rounded up to a "
                           "power of two (E8M0)";
        case ScaleBasis::nvfp4:
            break;
    }
    return block + " values along the contraction" + square +
           ": amax / 6 in E4M3, times a scale of the tensor, amax / 2688 in FP32";
}

}  // namespace

std::vector<RecipeInfo> recipe_infos() {
    std::vector<RecipeInfo> out;
    for (const auto& word : setting_words<RecipeKind>) {
        if (word.value == RecipeKind::none) continue;
        const Recipe recipe = make_recipe(word.value);
        out.push_back({std::string(word.name), std::string(word.title),
                       format_title(recipe.forward), format_title(recipe.gradient),
                       scale_words(recipe), recipe.random_gradients, recipe.rotates_rows});
    }
    return out;
}

}  // namespace engine
