#include "models/recipes.h"

#include <string>
#include <utility>
#include <vector>

#include "engine/models/recipe_info.h"
#include "engine/models/recipe_script.h"
#include "ops/catalog/op_script.h"

namespace engine {

namespace {

// Sources: Transformer Engine's DelayedScaling, Float8CurrentScaling and Float8BlockScaling,
// torchao's rowwise recipes, MXFP8 as both have it, and NVFP4BlockScaling.
Recipe usual_recipe(RecipeKind kind) {
    using enum RecipeKind;
    constexpr kernels::FloatLayout e4m3 = kernels::fp8_e4m3_layout,
                                   e2m1 = kernels::fp4_e2m1_layout;
    switch (kind) {
        case fp8_delayed:
            return {.rule = ScaleBasis::delayed};
        case fp8_rowwise:
            return {.rule = ScaleBasis::row, .gradient = e4m3, .powers_of_two = true};
        case fp8_rowwise_gw:
            return {.rule = ScaleBasis::row,
                    .gradient = e4m3,
                    .powers_of_two = true,
                    .whole_weights = true,
                    .kept = {false, false, true}};
        case fp8_block:
            return {.rule = ScaleBasis::block,
                    .gradient = e4m3,
                    .block = 128,
                    .square_weights = true,
                    .powers_of_two = true};
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

kernels::MxRule mx_rule(MxScaling scale) {
    switch (scale) {
        case MxScaling::floor:
            return kernels::MxRule::floor;
        case MxScaling::ceil:
            return kernels::MxRule::ceil;
        case MxScaling::even:
            return kernels::MxRule::even;
        case MxScaling::rceil:
            break;
    }
    return kernels::MxRule::rceil;
}

/// Formats and scales; a recipe without a part ignores its setting.
void set_formats(Recipe& recipe, RecipeKind kind, const QuantizeConfig& q) {
    const bool four_bits = recipe.forward.fraction_bits == 1;
    const bool two_formats = recipe.has_tensor_scales() || kind == RecipeKind::mxfp8;
    if (two_formats && q.gradient_format != GradientFormat::automatic)
        recipe.gradient = q.gradient_format == GradientFormat::e5m2 ? kernels::fp8_e5m2_layout
                                                                    : kernels::fp8_e4m3_layout;
    recipe.history = q.history.value_or(recipe.history);
    recipe.newest = q.history_algorithm == HistoryRule::newest;
    recipe.margin = static_cast<int>(q.margin);
    recipe.measures_first = q.first_scale == FirstScale::current;
    recipe.powers_of_two = q.power_of_2_scales.value_or(recipe.powers_of_two);
    recipe.mx_rule = mx_rule(q.mx_scale);
    if (four_bits && q.stochastic_rounding != FourBitRounding::automatic)
        recipe.random_gradients = q.stochastic_rounding == FourBitRounding::gradients;
    if (four_bits && q.hadamard != Rotation::automatic)
        recipe.rotates_rows = q.hadamard == Rotation::wgrad;
    const bool small_blocks = recipe.block > 0 && recipe.rule != ScaleBasis::block;
    if (small_blocks && q.weight_blocks != WeightBlocks::automatic)
        recipe.square_weights = q.weight_blocks == WeightBlocks::squares;
}

}  // namespace

RecipeSettings recipe_settings(const RunConfig& config) {
    return {.quantize = config.quantize,
            .seed = config.seed,
            .fixed_scale = config.teach.quantize_scale,
            .sum_bits = config.teach.accumulator_bits,
            .promote_every = config.teach.promote_every > 0 ? config.teach.promote_every : 128,
            .forgets_history = config.teach.resume_without_history};
}

Recipe make_recipe(RecipeKind kind, const RecipeSettings& settings) {
    const QuantizeConfig& q = settings.quantize;
    Recipe recipe = usual_recipe(kind);
    set_formats(recipe, kind, q);
    recipe.saturates = q.non_finite == NonFiniteRule::saturate;
    recipe.evaluates = q.evaluate.value_or(true);
    recipe.convolutions = q.convolutions;
    recipe.reduces_amax = q.reduce_amax == AmaxReduction::all;
    recipe.shares_history = q.reduce_amax != AmaxReduction::none;
    recipe.fixed_scale = static_cast<float>(settings.fixed_scale);
    recipe.sum_bits = static_cast<int>(settings.sum_bits);
    recipe.promote_every = settings.promote_every;
    recipe.forgets_history = settings.forgets_history;
    const auto set_kept = [&](LayerProduct product, ProductType type) {
        if (type != ProductType::automatic)
            recipe.kept[static_cast<std::size_t>(product)] = type == ProductType::high;
    };
    set_kept(LayerProduct::input_gradient, q.dgrad);
    set_kept(LayerProduct::weight_gradient, q.wgrad);
    return recipe;
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

int run_op_script_with_recipes(std::istream& cases, std::ostream& results) {
    return run_op_script(cases, results, [](const std::string& name) -> std::optional<Recipe> {
        const auto kind = value_of_word<RecipeKind>(name);
        if (!kind || *kind == RecipeKind::none) return std::nullopt;
        return make_recipe(*kind);
    });
}

}  // namespace engine
