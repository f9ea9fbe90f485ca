#include "network/text_environment.h"

#include <cmath>

#include "engine/base/plain_text.h"
#include "network/lines.h"
#include "network/text_options.h"

namespace engine::network {
namespace {

bool is_in_range(const OptionValue& value) {
    const auto fits = [](std::int64_t each) { return each < size_limit && each > -size_limit; };
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return fits(*whole);
    if (const auto* number = std::get_if<double>(&value)) return std::isfinite(*number);
    const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
    return list == nullptr || std::ranges::all_of(*list, fits);
}

std::size_t item_count(const OptionValue& value) {
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) return numbers->size();
    const auto* words = std::get_if<std::vector<std::string>>(&value);
    return words != nullptr ? words->size() : 0;
}

/// The value in the option's type.
OptionValue typed(const OptionSpec& spec, const OptionValue& value) {
    const TypedOptions options({{spec.name, value}}, std::span(&spec, 1));
    return std::visit([&](const auto& like) -> OptionValue {
        using Type = std::decay_t<decltype(like)>;
        if constexpr (std::is_same_v<Type, bool>) return options.flag(spec.name);
        else if constexpr (std::is_same_v<Type, std::int64_t>) return options.integer(spec.name);
        else if constexpr (std::is_same_v<Type, double>) return options.number(spec.name);
        else if constexpr (std::is_same_v<Type, std::string>) return options.word(spec.name);
        else if constexpr (std::is_same_v<Type, std::vector<std::int64_t>>) return options.integers(spec.name);
        else return options.words(spec.name);
    }, spec.default_value);
}

/// How well an init line for `wanted` fits a parameter; 0: not at all. weight_hh means each layer's, and weight all weights.
int fit(std::string_view role, std::string_view wanted) {
    if (role == wanted || (role.empty() && wanted == "weight")) return 3;
    if (role.starts_with(wanted) && role.substr(wanted.size()).starts_with("_l")) return 2;
    return wanted == (is_bias(role) ? "bias" : "weight") ? 1 : 0;
}

}  // namespace

bool is_bias(std::string_view role) { return role.starts_with("bias") || role.ends_with("bias"); }

TextEnvironment::TextEnvironment(const NetworkSyntax& syntax, const NetworkData& data, Expansion& expansion) : expansion_(expansion) {
    if (syntax.incomplete) variables_->set_incomplete();
    std::vector<NetworkFault> faults;
    const std::vector<OptionSpec> options = text_options(syntax, faults);
    for (const NetworkFault& fault : faults) expansion.report({fault.place, fault.text, {}});
    set_options(syntax, data, options);
    read_inits(syntax);
}

void TextEnvironment::set_options(const NetworkSyntax& syntax, const NetworkData& data, const std::vector<OptionSpec>& options) {
    for (std::size_t i = 0; i < options.size(); ++i) {
        const OptionSpec& spec = options[i];
        OptionValue value = spec.default_value;
        if (const auto given = data.options.find(spec.name); given != data.options.end()) {
            const TextPlace place = syntax.options[i].place;
            if (item_count(given->second) > Limits::list)
                expansion_.report({place, msg("A list of more than {} items.", Limits::list), {}});
            else if (const Message wrong = check_option(spec, given->second); !wrong.empty())
                expansion_.report({place, msg("The option {} is set to {}.", spec.name, shortened(engine::to_string(given->second))), {}});
            else if (OptionValue read = typed(spec, given->second); !is_in_range(read))
                expansion_.report({place, msg("The option {} is set to {}, which is out of range.", spec.name, shortened(engine::to_string(given->second))), {}});
            else
                value = std::move(read);
        }
        expansion_.set_variable(*variables_, spec.name, variable_value(spec, value));
    }
    expansion_.set_variable(*variables_, "outputs", {data.outputs});
}

Value TextEnvironment::variable_value(const OptionSpec& spec, const OptionValue& value) {
    const std::vector<std::string>* words = nullptr;
    if (!spec.choices.empty()) {
        auto& all = words_.emplace_back();
        for (const FieldChoice& choice : spec.choices) all.push_back(choice.value);
        words = &all;
    }
    return std::visit([&](const auto& each) -> Value {
        if constexpr (requires { each.begin(); } && !std::is_same_v<std::decay_t<decltype(each)>, std::string>) {
            ValueList list;
            for (const auto& item : each) list.push_back({item, words});
            return {std::move(list), words};
        } else {
            return {each, words};
        }
    }, value);
}

void TextEnvironment::read_inits(const NetworkSyntax& syntax) {
    for (const InitLine& line : syntax.inits) {
        const LayerKind* kind = find_layer_kind(line.kind);
        if (kind == nullptr) {
            const std::string near = nearest_layer_kind(line.kind);
            expansion_.report(near.empty() ? Failure{line.place, msg("{}: there is no such layer.", line.kind), {}}
                                           : Failure{line.place, msg("{}: there is no such layer. Did you mean {}?", line.kind, near), {}});
            continue;
        }
        auto& lines = inits_[line.kind];
        const auto before = std::ranges::find(lines, line.parameter, [](const Init& each) { return each.line->parameter; });
        if (std::ranges::find(kind->roles, line.parameter) == kind->roles.end()) {
            expansion_.report({line.place, kind->roles.empty() ? msg("{} has no parameters.", line.kind)
                                                               : msg("{} has no parameter {}. It has: {}.", line.kind, line.parameter, join(kind->roles)), {}});
        } else if (before != lines.end()) {
            expansion_.report({line.place, msg("{}.{}: line {} sets its initial values already.", line.kind, line.parameter, before->line->place.line), {}});
        } else {
            try {
                const Frame frame{variables_, std::make_shared<Names>(nullptr, 0), {}, {}, nullptr, 0};
                const Value value = expansion_.evaluator().evaluate(line.value, FrameView(expansion_, frame), initial_rules());
                lines.push_back({&line, read_initial(value, line.value.place)});
            } catch (const Failure& failure) {
                expansion_.report(failure);
            } catch (const Unknown&) {
            }
        }
    }
}

const InitialRule* TextEnvironment::initial(const LayerKind& kind, const std::string& role) {
    const auto lines = inits_.find(kind.name);
    if (lines == inits_.end()) return nullptr;
    Init* best = nullptr;
    int best_fit = 0;
    for (Init& each : lines->second) {
        const int own = fit(role, each.line->parameter);
        if (own <= best_fit) continue;
        best = &each;
        best_fit = own;
    }
    if (best == nullptr) return nullptr;
    best->used = true;
    return &best->rule;
}

void TextEnvironment::note_unused_inits() {
    for (const auto& kind : inits_)
        for (const Init& each : kind.second)
            if (!each.used) expansion_.note(each.line->place, msg("{}.{}: no layer of this network has it.", kind.first, each.line->parameter));
}

}  // namespace engine::network
