#include "models/forced_types.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/near_name.h"
#include "engine/settings/catalog.h"
#include "settings/config_fields.h"

namespace engine {
namespace {

DType to_dtype(ForcedType type) {
    switch (type) {
        case ForcedType::fp32:
            return DType::f32;
        case ForcedType::fp16:
            return DType::f16;
        case ForcedType::bf16:
            return DType::bf16;
        default:
            break;
    }
    return DType::f32;
}

bool is_op(const std::string& name) {
    static const std::vector<OpSummary> all = ops();
    return std::ranges::any_of(
        all, [&](const OpSummary& op) { return op.forceable && op.name == name; });
}

bool is_among(const std::vector<std::string>& modules, const std::string& name) {
    return std::ranges::find(modules, name) != modules.end();
}

/// A module, an operation, or both; empty: neither is known.
std::optional<ForceRule> find_rule(const std::string& key, DType type,
                                   const std::vector<std::string>& modules) {
    const auto colon = key.find(':');
    if (colon == std::string::npos) {
        if (is_among(modules, key)) return ForceRule{key, key, "", type};
        if (is_op(key)) return ForceRule{key, "", key, type};
        return std::nullopt;
    }
    const std::string module = key.substr(0, colon), op = key.substr(colon + 1);
    const bool known = (module.empty() || is_among(modules, module)) && is_op(op);
    return known ? std::optional(ForceRule{key, module, op, type}) : std::nullopt;
}

/// Says what is allowed in place of an unknown key.
Message allowed(const std::string& key, const std::vector<std::string>& modules) {
    const std::string module = key.substr(0, key.find(':'));
    const bool with_op = key.find(':') != std::string::npos;
    if (with_op && (module.empty() || is_among(modules, module)))
        return msg("{} is not an operation whose type can be forced; the ops command lists them",
                   shown(key.substr(module.size() + 1)));
    const std::string near_one = nearest_name(module, modules);
    if (!near_one.empty()) return msg("the model has no such module; did you mean {}?", near_one);
    return with_op ? msg("the model has no module {}", shown(module))
                   : msg("neither a module of the model nor an operation whose type can be forced");
}

}  // namespace

std::shared_ptr<const ForceRules> force_rules(const ForcedTypes& forced,
                                              const std::vector<std::string>& modules) {
    const auto is_recipe = [](const auto& each) {
        return forced_recipe(each.second) != RecipeKind::none;
    };
    if (std::ranges::all_of(forced, is_recipe)) return nullptr;
    std::vector<ForceRule> rules;
    std::string refused;
    for (const auto& [key, type] : forced) {
        if (forced_recipe(type) != RecipeKind::none) {  // make_quantized_layers() looks for it
            rules.push_back({key, key, "", DType::f32, /*lifts=*/true});
            continue;
        }
        if (const auto rule = find_rule(key, to_dtype(type), modules)) {
            rules.push_back(*rule);
            continue;
        }
        const SettingError error{"precision.force." + key, word_of(type), allowed(key, modules)};
        refused += (refused.empty() ? "" : "\n") + error.str();
    }
    if (!refused.empty()) throw Error(ErrorCode::settings, refused);
    return std::make_shared<const ForceRules>(std::move(rules));
}

}  // namespace engine
