#include "network/initial.h"

#include <algorithm>

namespace engine::network {
namespace {

struct RuleForm {
    std::size_t numbers, words;  ///< arguments
};

const std::vector<std::pair<std::string, RuleForm>>& forms() {
    static const std::vector<std::pair<std::string, RuleForm>> table = {
        {"zeros", {0, 0}},          {"ones", {0, 0}},          {"constant", {1, 0}},
        {"uniform", {1, 0}},        {"normal", {1, 0}},        {"trunc_normal", {1, 0}},
        {"xavier_uniform", {0, 0}}, {"xavier_normal", {0, 0}}, {"kaiming_uniform", {0, 2}},
        {"kaiming_normal", {0, 2}}, {"orthogonal", {0, 0}}};
    return table;
}

}  // namespace

std::span<const std::string> initial_rules() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& form : forms()) all.push_back(form.first);
        return all;
    }();
    return names;
}

std::span<const std::string> initial_words() {
    static const std::vector<std::string> words = {"fan_in", "fan_out", "linear", "relu"};
    return words;
}

InitialRule read_initial(const Value& value, const TextPlace& place) {
    const auto* word = value.as<std::string>();
    const auto* call = value.as<ValueCall>();
    const std::string name = word != nullptr ? *word : call != nullptr ? call->name : std::string();
    const auto form = std::ranges::find(forms(), name, &std::pair<std::string, RuleForm>::first);
    if (form == forms().end())
        throw Failure{place, msg("{} is not a rule for initial weights: use zeros, ones, constant(a), uniform(a), normal(s), trunc_normal(s), a xavier or kaiming rule, or orthogonal.", brief(value)), {}};
    InitialRule rule{name, {}, {}};
    if (call != nullptr)
        for (const Value& argument : call->arguments) {
            const auto* whole = argument.as<std::int64_t>();
            if (whole != nullptr)
                rule.numbers.push_back(static_cast<double>(*whole));
            else if (const auto* number = argument.as<double>())
                rule.numbers.push_back(*number);
            else
                rule.words.push_back(brief(argument));
        }
    if (rule.numbers.size() != form->second.numbers || rule.words.size() != form->second.words)
        throw Failure{place, form->second.numbers > 0   ? msg("{} takes one number: {}(0.02).", name, name)
                             : form->second.words > 0 ? msg("{} takes a mode and an activation: {}(fan_out, relu).", name, name)
                                                      : msg("{} takes no arguments.", name), {}};
    if (!rule.words.empty() && ((rule.words[0] != "fan_in" && rule.words[0] != "fan_out") || (rule.words[1] != "relu" && rule.words[1] != "linear")))
        throw Failure{place, msg("{} takes fan_in or fan_out, then relu or linear.", name), {}};
    return rule;
}

}  // namespace engine::network
