#include <algorithm>
#include <initializer_list>

#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"

namespace engine {
namespace {

using enum RecipeKind;

/// The recipes that have a setting of only some recipes.
struct OwnSetting {
    const char* path;
    std::initializer_list<RecipeKind> recipes;
};

bool has_setting(RecipeKind recipe, std::string_view path) {
    static const OwnSetting own[] = {
        {"quantize.gradient_format", {fp8_delayed, fp8_current, mxfp8}},
        {"quantize.history", {fp8_delayed}},
        {"quantize.history_algorithm", {fp8_delayed}},
        {"quantize.margin", {fp8_delayed}},
        {"quantize.first_scale", {fp8_delayed}},
        {"quantize.power_of_2_scales", {fp8_current, fp8_rowwise, fp8_rowwise_gw, fp8_block}},
        {"quantize.mx_scale", {mxfp8, mxfp4}},
        {"quantize.stochastic_rounding", {nvfp4, mxfp4}},
        {"quantize.hadamard", {nvfp4, mxfp4}},
        {"quantize.weight_blocks", {mxfp8, nvfp4, mxfp4}},
        {"quantize.reduce_amax", {fp8_delayed, fp8_current, nvfp4}},
        {"quantize.convolutions", {fp8_delayed, fp8_current}},
        {"teach.quantize_scale", {fp8_delayed, fp8_current}},
        {"teach.resume_without_history", {fp8_delayed}},
    };
    const auto at = [path](const OwnSetting& each) { return path == each.path; };
    const auto* const found = std::ranges::find_if(own, at);
    return found == std::end(own) || std::ranges::count(found->recipes, recipe) > 0;
}

bool is_of_recipes(std::string_view path) {
    return path.starts_with("quantize.") || path == "teach.quantize_scale" ||
           path == "teach.resume_without_history" || path == "teach.accumulator_bits" ||
           path == "teach.promote_every";
}

}  // namespace

RecipeKind forced_recipe(ForcedType type) {
    return value_of_word<RecipeKind>(word_of(type)).value_or(none);
}

std::vector<RecipeKind> ResolvedPrecision::recipes() const {
    std::vector<RecipeKind> out;
    const auto add = [&out](RecipeKind kind) {
        if (kind != none && std::ranges::find(out, kind) == out.end()) out.push_back(kind);
    };
    add(recipe);
    for (const auto& [key, type] : force) add(forced_recipe(type));
    return out;
}

bool ResolvedPrecision::has_recipe() const {
    return recipe != none || std::ranges::any_of(force, [](const auto& each) {
               return forced_recipe(each.second) != none;
           });
}

std::vector<std::string> ignored_of_recipes(const RunConfig& config) {
    if (find_kind(precisions(), config.precision.preset) == nullptr) return {};
    const std::vector<RecipeKind> recipes = resolve(config.precision).recipes();
    RunConfig plain = config;
    plain.quantize = {};
    plain.teach.quantize_scale = 0;
    plain.teach.resume_without_history = false;
    plain.teach.accumulator_bits = 0;
    plain.teach.promote_every = 0;
    if (plain == config) return {};
    std::vector<std::string> out;
    for (const std::string& path : differing_fields(config, plain)) {
        const auto has = [&](RecipeKind recipe) { return has_setting(recipe, path); };
        if (is_of_recipes(path) && std::ranges::none_of(recipes, has)) out.push_back(path);
    }
    return out;
}

}  // namespace engine
