#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/error.h"
#include "engine/number/figure_text.h"
#include "models/model_descriptor.h"
#include "models/recipes.h"
#include "verdict/rules.h"

namespace engine {
namespace {

// Recipes in 8 and 4 bits (resources/handbook/low-bits.md).

/// The settings without recipes.
std::vector<std::string> without_recipe(const LintSubject& s) {
    std::vector<std::string> out;
    if (s.precision.recipe != RecipeKind::none) out.push_back("precision.recipe=none");
    for (const auto& [key, type] : s.config.precision.force)
        if (forced_recipe(type) != RecipeKind::none)
            out.push_back("precision.force." + key + "=bf16");
    return out;
}

void scaler_with_recipe(const LintSubject& s, Findings& out) {
    if (!s.scaled() || s.fp16()) return;
    out.push_back(
        {.id = "fp8-scaler-on",
         .severity = LintSeverity::note,
         .sentence = msg("A loss scaler with a recipe, whose scales fit each tensor"),
         .reason = msg("The gradients before the casts have the range of FP32. A loss scale saves "
                       "nothing there, and its checks cost time."),
         .handbook = "Recipes need no loss scaling",
         .fix = {"precision.scaler=off"}});
}

void fp16_with_recipe(const LintSubject& s, Findings& out) {
    if (s.precision.autocast != AutocastFormat::fp16 || s.scaled()) return;
    out.push_back(
        {.id = "fp8-fp16-without-scaler",
         .severity = LintSeverity::warning,
         .sentence = msg("A recipe beside FP16, without loss scaling"),
         .reason = msg("Gradients below 2⁻²⁵ become 0 in FP16 before any scale of the recipe can "
                       "save them."),
         .handbook = "Recipes need no loss scaling",
         .fix = {"precision.scaler=dynamic"}});
}

/// Figures of a card with 8-bit products, an H100, in operations and bytes a second; and the bytes
/// that a cast moves for each element of an operand.
struct CardModel {
    double bf16 = 989e12, memory = 3.35e12;
    double faster = 2, cast_bytes = 6;
};

CardModel model_of(RecipeKind recipe) {
    CardModel out;
    if (recipe == RecipeKind::fp8_delayed) out.cast_bytes = 4;
    if (recipe == RecipeKind::mxfp8) out.cast_bytes = 4.06;
    if (recipe == RecipeKind::nvfp4 || recipe == RecipeKind::mxfp4) {
        out.cast_bytes = 5.1;
        out.faster = 4;
    }
    return out;
}

/// Seconds that all quantised products of a step take in bf16 and by the recipe.
std::array<double, 2> seconds_on_card(const LintSubject& s) {
    const CardModel card = model_of(s.precision.recipes().front());
    const std::int64_t words =
        model_descriptor(s.config.model)->output == ModelOutput::token_scores ? s.config.bptt : 1;
    const auto rows = static_cast<double>(s.config.batch_size * words);
    std::array<double, 2> out{};
    for (const LinearShape& layer : linear_layers(*s.model)) {
        const double products = 6 * rows * layer.in * layer.out;
        const double elements = rows * (layer.in + layer.out) + layer.in * layer.out;
        out[0] += products / card.bf16;
        out[1] += products / (card.faster * card.bf16) + card.cast_bytes * elements / card.memory;
    }
    return out;
}

void small_layers(const LintSubject& s, Findings& out) {
    if (!s.context.gpu || s.model == nullptr) return;
    const auto [low, quantised] = seconds_on_card(s);
    if (low == 0 || quantised <= low) return;
    out.push_back(
        {.id = "fp8-small-layers",
         .severity = LintSeverity::note,
         .sentence = msg("The layers are too small for a recipe to pay: about {} times the time of "
                         "bf16 on an H100",
                         figure_text(std::round(10 * quantised / low) / 10)),
         .reason =
             msg("Casts read and write every operand. Below about 1,400 rows and columns they "
                 "take longer than the faster products save."),
         .handbook = "Casts cost time",
         .fix = without_recipe(s)});
}

/// Time of a step of transformer-lm beside autocast in bf16 (tests/bench/RESULTS.md).
double emulation_factor(RecipeKind recipe) {
    switch (make_recipe(recipe).rule) {
        case ScaleBasis::tensor:
        case ScaleBasis::delayed:
            return 1.3;
        case ScaleBasis::nvfp4:
            return 5.4;
        case ScaleBasis::mx:
            return make_recipe(recipe).random_gradients ? 4.5 : 2.3;
        case ScaleBasis::row:
        case ScaleBasis::block:
            break;
    }
    return 2;
}

void emulated_products(const LintSubject& s, Findings& out) {
    if (s.context.gpu) return;
    out.push_back({.id = "fp8-emulated-slow",
                   .severity = LintSeverity::note,
                   .sentence = msg("The products are emulated: a step takes about {} times that of "
                                   "autocast in 16 bits",
                                   figure_text(emulation_factor(s.precision.recipes().front()))),
                   .reason = msg("A CPU has no products of 8 and 4 bits. The numbers are those of "
                                 "a card; the speed says nothing about it."),
                   .handbook = "Casts cost time",
                   .fix = without_recipe(s)});
}

void quantised_head(const LintSubject& s, Findings& out) {
    if (!s.config.quantize.head) return;
    out.push_back({.id = "fp8-head",
                   .severity = LintSeverity::note,
                   .sentence = msg("The output layer is quantised too"),
                   .reason = msg("Its errors go straight into the loss and every gradient. All "
                                 "published recipes keep it in 16 bits."),
                   .handbook = "What recipes keep in 16 bits",
                   .fix = {"quantize.head=false"}});
}

void hidden_overflow(const LintSubject& s, Findings& out) {
    if (s.config.quantize.non_finite != NonFiniteRule::saturate) return;
    out.push_back(
        {.id = "fp8-saturate-hides-overflow",
         .severity = LintSeverity::warning,
         .sentence = msg("Infinity becomes the largest value of the format"),
         .reason = msg("A gradient that overflowed looks healthy: no step is skipped, and the "
                       "update is wrong."),
         .handbook = "Overflow stays visible",
         .fix = {"quantize.non_finite=propagate"}});
}

bool has_rule(const LintSubject& s, ScaleBasis rule) {
    return std::ranges::any_of(s.precision.recipes(),
                               [&](RecipeKind kind) { return make_recipe(kind).rule == rule; });
}

bool has_four_bits(const LintSubject& s) {
    const std::vector<RecipeKind> all = s.precision.recipes();
    return std::ranges::find(all, RecipeKind::nvfp4) != all.end() ||
           std::ranges::find(all, RecipeKind::mxfp4) != all.end();
}

void scales_rounded_down(const LintSubject& s, Findings& out) {
    if (!has_rule(s, ScaleBasis::mx) || s.config.quantize.mx_scale != MxScaling::floor) return;
    out.push_back(
        {.id = "mx-floor",
         .severity = LintSeverity::warning,
         .sentence = msg("MX scales are rounded down, and the largest values of a block saturate"),
         .reason = msg("A block's largest value may be scaled beyond the format's. Runs with this "
                       "rule have diverged where rceil did not."),
         .handbook = "Scales and rounding of 4 bits and blocks",
         .fix = {"quantize.mx_scale=rceil"}});
}

void rounding_of_four_bits(const LintSubject& s, Findings& out) {
    const QuantizeConfig& q = s.config.quantize;
    if (has_four_bits(s) && q.stochastic_rounding == FourBitRounding::none)
        out.push_back(
            {.id = "fp4-without-sr",
             .severity = LintSeverity::warning,
             .sentence = msg("4-bit gradients are rounded to nearest"),
             .reason = msg("Small gradients then become 0 in every step alike, and what they would "
                           "teach is never learned. Rounding at random keeps their mean."),
             .handbook = "Scales and rounding of 4 bits and blocks",
             .fix = {"quantize.stochastic_rounding=gradients"}});
    if (has_rule(s, ScaleBasis::nvfp4) && q.hadamard == Rotation::off)
        out.push_back(
            {.id = "fp4-no-rht",
             .severity = LintSeverity::note,
             .sentence = msg("Outliers are not spread before the gradients of weights"),
             .reason = msg("One outlier in a block of 16 sets its scale, and the other 15 become 0 "
                           "or few levels. A rotation spreads it over the block."),
             .handbook = "Scales and rounding of 4 bits and blocks",
             .fix = {"quantize.hadamard=wgrad"}});
}

/// Models of so few blocks that nvfp4 keeps none, too, do as the recipe says.
void all_blocks_in_four_bits(const LintSubject& s, Findings& out) {
    if (s.precision.recipe != RecipeKind::nvfp4 || s.model == nullptr) return;
    const auto blocks = static_cast<std::int64_t>(s.model->blocks.size());
    const std::int64_t usual = (16 * blocks + 50) / 100;
    const std::int64_t last = s.config.quantize.last_blocks.value_or(usual);
    if (last >= usual || s.config.quantize.first_blocks.value_or(0) > 0) return;
    out.push_back({.id = "fp4-all-blocks",
                   .severity = LintSeverity::warning,
                   .sentence = msg("All blocks are in 4 bits; the recipe keeps the last {}", usual),
                   .reason = msg("Large models diverge so, long after the start. A short run shows "
                                 "nothing of it."),
                   .handbook = "What recipes keep in 16 bits",
                   .fix = {"quantize.last_blocks=" + std::to_string(usual)}});
}

/// Whether training refuses the recipes of the settings for this model.
bool is_refused(const LintSubject& s, Findings& out) {
    if (s.model == nullptr) return false;
    try {
        make_quantized_layers(s.precision, *s.model, recipe_settings(s.config));
        return false;
    } catch (const Error& error) {
        out.push_back({.id = "recipe-refused",
                       .severity = LintSeverity::error,
                       .sentence = error.message(),
                       .reason = msg("Training refuses these settings before its first step."),
                       .handbook = "What recipes keep in 16 bits",
                       .fix = without_recipe(s)});
        return true;
    }
}

/// Whether the settings leave no product of the model to its recipes.
bool keeps_every_product(const LintSubject& s) {
    using enum LayerProduct;
    const auto layers = make_quantized_layers(s.precision, *s.model, recipe_settings(s.config));
    const auto modules = product_modules(*s.model, s.config.quantize.convolutions);
    return std::ranges::none_of(modules, [&](const std::string& module) {
        const auto layer = layers->find(module);
        return layer != nullptr && (layer->quantizes(forward) || layer->quantizes(input_gradient) ||
                                    layer->quantizes(weight_gradient));
    });
}

void nothing_quantised(const LintSubject& s, Findings& out) {
    if (s.model == nullptr || !keeps_every_product(s)) return;
    out.push_back(
        {.id = "nothing-quantised",
         .severity = LintSeverity::warning,
         .sentence = msg("The settings keep every product from the recipe"),
         .reason = msg("precision.force, quantize.skip and kept blocks cover all layers, so "
                       "the run is one in 16 bits."),
         .handbook = "What recipes keep in 16 bits",
         .fix = without_recipe(s)});
}

}  // namespace

std::vector<LinearShape> linear_layers(const Model& model) {
    std::vector<LinearShape> out;
    const std::vector<std::string> products = product_modules(model, /*convolutions=*/false);
    for (const Parameter& each : model.parameters()) {
        const std::string layer = each.name.substr(0, each.name.rfind('.'));
        if (!each.autocast_low || each.tensor.rank() != 2 ||
            std::ranges::find(products, layer) == products.end() ||
            std::ranges::find(model.heads, layer) != model.heads.end())
            continue;
        out.push_back({layer, static_cast<double>(each.tensor.size(0)),
                       static_cast<double>(each.tensor.size(1))});
    }
    return out;
}

void lint_recipe(const LintSubject& subject, Findings& out) {
    if (!subject.precision.has_recipe() || is_refused(subject, out)) return;
    scaler_with_recipe(subject, out);
    fp16_with_recipe(subject, out);
    small_layers(subject, out);
    emulated_products(subject, out);
    quantised_head(subject, out);
    hidden_overflow(subject, out);
    scales_rounded_down(subject, out);
    rounding_of_four_bits(subject, out);
    all_blocks_in_four_bits(subject, out);
    nothing_quantised(subject, out);
}

}  // namespace engine
