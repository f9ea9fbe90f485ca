#include <algorithm>
#include <array>
#include <cmath>

#include "engine/number/figure_text.h"
#include "models/model_descriptor.h"
#include "verdict/rules.h"

namespace engine {
namespace {

// Recipes in 8 and 4 bits (resources/handbook/low-bits.md).

const std::vector<std::string> without_recipe = {"precision.recipe=none"};

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
    const CardModel card = model_of(s.precision.recipe);
    const std::int64_t words = model_descriptor(s.config.model)->output == ModelOutput::token_scores
                                   ? s.config.bptt
                                   : 1;
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
         .reason = msg("Casts read and write every operand. Below about 1,400 rows and columns they "
                       "take longer than the faster products save."),
         .handbook = "Casts cost time",
         .fix = without_recipe});
}

/// Time of a step of transformer-lm in units of amp-bf16's, as RESULTS.md has it.
double emulation_factor(RecipeKind recipe) {
    switch (recipe) {
        case RecipeKind::nvfp4:
        case RecipeKind::mxfp4:
            return 1.9;
        case RecipeKind::mxfp8:
        case RecipeKind::fp8_rowwise:
        case RecipeKind::fp8_block:
            return 1.5;
        default:
            return 1.35;
    }
}

void emulated_products(const LintSubject& s, Findings& out) {
    if (s.context.gpu) return;
    out.push_back({.id = "fp8-emulated-slow",
                   .severity = LintSeverity::note,
                   .sentence = msg("The products are emulated: a step takes about {} times that of "
                                   "amp-bf16",
                                   figure_text(emulation_factor(s.precision.recipe))),
                   .reason = msg("A CPU has no products of 8 and 4 bits. The numbers are those of "
                                 "a card; the speed says nothing about it."),
                   .handbook = "Casts cost time",
                   .fix = without_recipe});
}

}  // namespace

std::vector<LinearShape> linear_layers(const Model& model) {
    std::vector<LinearShape> out;
    for (const Parameter& each : model.parameters()) {
        if (!each.autocast_low || each.tensor.rank() != 2) continue;
        const std::string layer = each.name.substr(0, each.name.rfind('.'));
        if (std::ranges::find(model.heads, layer) != model.heads.end()) continue;
        out.push_back({layer, static_cast<double>(each.tensor.size(0)),
                       static_cast<double>(each.tensor.size(1))});
    }
    return out;
}

void lint_recipe(const LintSubject& subject, Findings& out) {
    if (subject.precision.recipe == RecipeKind::none) return;
    scaler_with_recipe(subject, out);
    fp16_with_recipe(subject, out);
    small_layers(subject, out);
    emulated_products(subject, out);
}

}  // namespace engine
