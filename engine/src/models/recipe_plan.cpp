#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/near_name.h"
#include "models/recipes.h"
#include "settings/config_fields.h"

namespace engine {
namespace {

/// "layer1.0" of "layer1.0.weight".
std::string module_of(const std::string& parameter) {
    const auto dot = parameter.rfind('.');
    return dot == std::string::npos ? std::string() : parameter.substr(0, dot);
}

bool is_recurrent(const std::string& parameter) {
    const std::string own = parameter.substr(parameter.rfind('.') + 1);
    return own.starts_with("weight_ih") || own.starts_with("weight_hh");
}

bool is_inside_module(std::string_view outer, std::string_view module) {
    return module.starts_with(outer) &&
           (module.size() == outer.size() || module[outer.size()] == '.');
}

bool holds_one(const std::string& outer, const std::vector<std::string>& modules) {
    return std::ranges::any_of(
        modules, [&](const std::string& each) { return is_inside_module(outer, each); });
}

/// The first module with a kernel; empty: there is none.
std::vector<std::string> first_convolution(const Model& model) {
    for (const Parameter& each : model.parameters())
        if (each.autocast_low && each.tensor.rank() > 2) return {module_of(each.name)};
    return {};
}

/// Gathers the plan, and what is refused.
class Planner {
public:
    Planner(const ResolvedPrecision& precision, const Model& model, const RecipeSettings& settings)
        : precision_(precision),
          model_(model),
          settings_(settings) {}

    RecipePlan plan() {
        RecipePlan out;
        if (precision_.recipe != RecipeKind::none) {
            out.recipe = make_recipe(precision_.recipe, settings_);
            check_covered(*out.recipe);
            out.kept = kept_modules();
        }
        for (const auto& [key, type] : precision_.force) add_forced(out, key, type);
        for (const std::string& each : settings_.quantize.skip) add_skipped(out, each);
        if (!refused_.empty()) throw Error(ErrorCode::settings, refused_);
        return out;
    }

private:
    void refuse(const std::string& field, const std::string& value, Message allowed) {
        refused_ += (refused_.empty() ? "" : "\n") +
                    SettingError{field, value, std::move(allowed)}.str();
    }

    /// Modules whose products the recipe could cover.
    std::vector<std::string> products_of(const Recipe& recipe) const {
        return product_modules(model_, recipe.convolutions && recipe.has_tensor_scales());
    }

    void check_covered(const Recipe& recipe) const {
        const bool covered = std::ranges::any_of(products_of(recipe), [&](const std::string& each) {
            const auto holds = [&](const std::string& head) { return is_inside_module(head, each); };
            return settings_.quantize.head || std::ranges::none_of(model_.heads, holds);
        });
        if (covered) return;
        const auto& all = model_.parameters();
        const bool recurrent = std::ranges::any_of(
            all, [](const Parameter& each) { return is_recurrent(each.name); });
        throw Error(
            ErrorCode::settings,
            recurrent
                ? msg("This model has no product that a recipe covers: its recurrent cells stay in "
                      "16 bits, and the other one is its output layer.")
                : msg("This model has no product that a recipe covers: a linear layer beside its "
                      "output layer."),
            msg("Use a precision without a recipe, quantize.head=true, or, for convolutions, "
                "quantize.convolutions=true with a recipe of one scale a tensor."));
    }

    std::vector<std::string> kept_modules() const {
        const QuantizeConfig& q = settings_.quantize;
        std::vector<std::string> kept = first_convolution(model_);
        if (!q.head) kept.insert(kept.end(), model_.heads.begin(), model_.heads.end());
        const auto& blocks = model_.blocks;
        const auto count = static_cast<std::int64_t>(blocks.size());
        // Transformer Engine's advice: the last 16 % of the blocks, rounded to whole blocks.
        const std::int64_t usual =
            precision_.recipe == RecipeKind::nvfp4 ? (16 * count + 50) / 100 : 0;
        const std::int64_t first = std::min(count, q.first_blocks.value_or(0));
        const std::int64_t last = std::min(count, q.last_blocks.value_or(usual));
        kept.insert(kept.end(), blocks.begin(), blocks.begin() + first);
        kept.insert(kept.end(), blocks.end() - last, blocks.end());
        return kept;
    }

    void add_forced(RecipePlan& out, const std::string& key, ForcedType type) {
        const RecipeKind recipe = forced_recipe(type);
        const bool is_module = std::ranges::find(model_.modules, key) != model_.modules.end();
        if (recipe == RecipeKind::none) {  // force_rules() refuses unknown names
            if (is_module) out.forced[key] = std::nullopt;
            return;
        }
        const std::string field = "precision.force." + key;
        if (!is_module) return refuse(field, word_of(type), unknown(key));
        const Recipe made = make_recipe(recipe, settings_);
        if (!holds_one(key, products_of(made))) return refuse(field, word_of(type), no_product(key));
        out.forced[key] = made;
    }

    Message unknown(const std::string& module) const {
        const std::string near_one = nearest_name(module, model_.modules);
        if (near_one.empty()) return msg("name a module of the model, for which a recipe holds");
        return msg("the model has no such module; did you mean {}?", near_one);
    }

    Message no_product(const std::string& module) const {
        const bool recurrent = std::ranges::any_of(model_.parameters(), [&](const Parameter& each) {
            return is_recurrent(each.name) && is_inside_module(module, module_of(each.name));
        });
        if (recurrent) return msg("recurrent cells stay in 16 bits: their state feeds back");
        return msg("the module has no product that a recipe covers: name one with a linear layer");
    }

    /// "MODULE:fprop"; the checks of settings have seen that it has this form.
    void add_skipped(RecipePlan& out, const std::string& text) {
        constexpr std::string_view names[] = {"fprop", "dgrad", "wgrad"};
        const auto colon = text.rfind(':');
        const std::string module = text.substr(0, colon), product = text.substr(colon + 1);
        if (std::ranges::find(model_.modules, module) == model_.modules.end())
            return refuse("quantize.skip", text, unknown(module));
        if (!holds_one(module, product_modules(model_, settings_.quantize.convolutions)))
            return refuse("quantize.skip", text, no_product(module));
        const auto place = std::ranges::find(names, product) - std::begin(names);
        out.skipped[module].at(static_cast<std::size_t>(place)) = true;
    }

    const ResolvedPrecision& precision_;
    const Model& model_;
    const RecipeSettings& settings_;
    std::string refused_;
};

}  // namespace

std::vector<std::string> product_modules(const Model& model, bool convolutions) {
    std::set<std::string> out;
    const auto is_shared = [&](const Parameter& each) {
        return std::ranges::any_of(model.aliases(),
                                   [&](const TensorAlias& other) { return other.of == each.name; });
    };
    for (const Parameter& each : model.parameters()) {
        const int rank = each.tensor.rank();
        const bool multiplied = rank == 2 || (rank > 2 && convolutions);
        if (!each.autocast_low || !multiplied || is_recurrent(each.name) || is_shared(each)) continue;
        if (const std::string module = module_of(each.name); !module.empty()) out.insert(module);
    }
    for (const TensorAlias& each : model.aliases())
        if (each.name.ends_with("weight")) out.insert(module_of(each.name));
    return {out.begin(), out.end()};
}

std::unique_ptr<QuantizedLayers> make_quantized_layers(const ResolvedPrecision& precision,
                                                       const Model& model,
                                                       const RecipeSettings& settings) {
    if (!precision.has_recipe()) return nullptr;
    return std::make_unique<QuantizedLayers>(Planner(precision, model, settings).plan(),
                                             model.modules, settings.seed);
}

}  // namespace engine
