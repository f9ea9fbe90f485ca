#include "network/text_options.h"

#include <algorithm>
#include <set>

#include "network/initial.h"

namespace engine::network {
namespace {

/// Nothing for a list of other things than whole numbers or words.
std::optional<OptionValue> default_of(const Expression& literal) {
    switch (literal.kind) {
        case Expression::Kind::truth:
            return literal.whole != 0;
        case Expression::Kind::whole:
            return literal.whole;
        case Expression::Kind::number:
            return literal.number;
        case Expression::Kind::text:
            return literal.text;
        default:
            break;
    }
    std::vector<std::int64_t> numbers;
    std::vector<std::string> words;
    for (const Expression& each : literal.parts) {
        if (each.kind == Expression::Kind::whole) numbers.push_back(each.whole);
        if (each.kind == Expression::Kind::text) words.push_back(each.text);
    }
    if (numbers.size() == literal.parts.size()) return numbers;
    if (words.size() == literal.parts.size()) return words;
    return {};
}

bool is_numeric(const OptionValue& value) {
    return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value) ||
           std::holds_alternative<std::vector<std::int64_t>>(value);
}

bool fits_choices(const OptionSpec& spec) {
    if (spec.choices.empty()) return true;
    const auto known = [&](const std::string& word) { return std::ranges::find(spec.choices, word, &FieldChoice::value) != spec.choices.end(); };
    if (const auto* word = std::get_if<std::string>(&spec.default_value)) return known(*word);
    if (const auto* words = std::get_if<std::vector<std::string>>(&spec.default_value)) return std::ranges::all_of(*words, known);
    return false;
}

}  // namespace

std::vector<OptionSpec> text_options(const NetworkSyntax& syntax, std::vector<NetworkFault>& faults) {
    std::vector<OptionSpec> options;
    std::set<std::string> names;
    const auto fault = [&](const OptionLine& line, Message text) { faults.push_back({line.place, std::move(text), {}}); };
    for (const OptionLine& line : syntax.options) {
        const auto value = default_of(line.default_value);
        OptionSpec spec = option(line.name, line.name, value.value_or(OptionValue{}), line.help, opt::prominent);
        for (const std::string& word : line.choices) spec.choices.push_back({word, word});
        if (line.lowest) opt::between(*line.lowest, *line.highest)(spec);
        if (!value)
            fault(line, msg("{}: a list holds whole numbers or words.", line.name));
        else if (line.lowest && *line.lowest > *line.highest)
            fault(line, msg("{}: the range {} to {} is empty.", line.name, to_string(Value{*line.lowest}), to_string(Value{*line.highest})));
        else if (!names.insert(line.name).second)
            fault(line, msg("{}: there is an option of this name above.", line.name));
        else if (line.lowest && !is_numeric(*value))
            fault(line, msg("{}: a range is for numbers; words are listed behind \"of\".", line.name));
        else if (!fits_choices(spec) || !check_option(spec, spec.default_value).empty())
            fault(line, msg("{}: the default is none of the values that the option takes.", line.name));
        options.push_back(std::move(spec));
    }
    if (options.size() > Limits::options)
        faults.push_back({syntax.options[Limits::options].place, msg("More than {} options.", Limits::options), {}});
    return options;
}

}  // namespace engine::network
