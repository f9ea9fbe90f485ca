#include "engine/base/options.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <type_traits>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"

namespace engine {
namespace {

/// Says what an option of this type takes.
Message type_message(const OptionValue& like) {
    switch (like.index()) {
        case 0:
            return msg("use true or false");
        case 1:
            return msg("use a whole number");
        case 2:
            return msg("use a number");
        case 3:
            return msg("use a word");
        case 4:
            return msg("use whole numbers, separated by commas");
        default:
            return msg("use words, separated by commas");
    }
}

/// Reads a value as one of an option's words. In JSON `"header": true` and `"target": 3` are a flag
/// and a number. For an option whose values are words they stand for these words.
std::optional<OptionValue> as_words(const OptionValue& value) {
    if (const bool* flag = std::get_if<bool>(&value)) return std::string(*flag ? "true" : "false");
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
    if (numbers == nullptr || numbers->empty()) return std::nullopt;
    std::vector<std::string> words;
    for (const std::int64_t number : *numbers) words.push_back(std::to_string(number));
    return words;
}

/// The parts of "a, b".
std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');) {
        const auto first = part.find_first_not_of(' ');
        if (first == std::string::npos) continue;
        parts.push_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
    }
    return parts;
}

/// A list as people type it, "64, 64", where `like` is a list.
std::optional<OptionValue> list_of_type(const OptionValue& like, const std::string& text) {
    const std::vector<std::string> parts = split_at_commas(text);
    if (std::holds_alternative<std::vector<std::string>>(like)) return parts;
    if (!std::holds_alternative<std::vector<std::int64_t>>(like)) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const std::string& part : parts) {
        const auto number = to_number<std::int64_t>(part);
        if (!number) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

/// `value` as the type of `like`: whole numbers widen, single values stand for lists of one.
std::optional<OptionValue> convert_like(const OptionValue& like, const OptionValue& value) {
    if (like.index() == value.index()) return value;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        if (std::holds_alternative<double>(like)) return static_cast<double>(*whole);
        if (std::holds_alternative<std::vector<std::int64_t>>(like))
            return std::vector<std::int64_t>{*whole};
    }
    const bool words = std::holds_alternative<std::string>(like) ||
                       std::holds_alternative<std::vector<std::string>>(like);
    if (const auto text = words ? as_words(value) : std::nullopt) return convert_like(like, *text);
    if (const auto* text = std::get_if<std::string>(&value)) return list_of_type(like, *text);
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
        numbers && numbers->empty() && std::holds_alternative<std::vector<std::string>>(like))
        return std::vector<std::string>{};
    return std::nullopt;
}

bool fits_f32(const OptionValue& value) {
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr || *number == 0) return true;
    const double size = std::abs(*number);
    return size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max();
}

bool in_range(const OptionSpec& spec, double value) {
    const bool high_enough = spec.above_lowest ? value > spec.lowest : value >= spec.lowest;
    const bool low_enough = spec.below_highest ? value < spec.highest : value <= spec.highest;
    return high_enough && low_enough && std::isfinite(value);
}

bool all_in_range(const OptionSpec& spec, const OptionValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value))
        return in_range(spec, static_cast<double>(*whole));
    if (const auto* number = std::get_if<double>(&value)) return in_range(spec, *number);
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
        return std::all_of(list->begin(), list->end(), [&](std::int64_t item) {
            return in_range(spec, static_cast<double>(item));
        });
    return true;
}

Message range_message(const OptionSpec& spec, const OptionValue& value) {
    const bool whole = !std::holds_alternative<double>(value);
    const bool bounded = std::isfinite(spec.highest);
    if (std::holds_alternative<std::vector<std::int64_t>>(value))
        return msg("use whole numbers from {} to {}", std::llround(spec.lowest),
                   std::llround(spec.highest));
    if (whole && bounded)
        return msg("use a whole number from {} to {}", std::llround(spec.lowest),
                   std::llround(spec.highest));
    if (whole) return msg("use a whole number, {} or more", std::llround(spec.lowest));
    if (bounded && spec.below_highest && spec.above_lowest)
        return msg("use a number above {} and below {}", spec.lowest, spec.highest);
    if (bounded && spec.below_highest)
        return msg("use a number from {} to below {}", spec.lowest, spec.highest);
    if (bounded) return msg("use a number from {} to {}", spec.lowest, spec.highest);
    if (spec.above_lowest) return msg("use a number above {}", spec.lowest);
    return msg("use a number, {} or more", spec.lowest);
}

}  // namespace

const OptionSpec* find_option(std::span<const OptionSpec> specs, std::string_view name) {
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [&](const OptionSpec& spec) { return spec.name == name; });
    return found == specs.end() ? nullptr : &*found;
}

Message option_type(const OptionSpec& spec) { return type_message(spec.default_value); }

Message check_option(const OptionSpec& spec, const OptionValue& value) {
    const auto typed = convert_like(spec.default_value, value);
    if (!typed) return option_type(spec);
    if (!all_in_range(spec, *typed)) return range_message(spec, *typed);
    // One that is 0 or infinite in f32 would do something else than it says.
    if (spec.fits_f32 && !fits_f32(*typed)) return msg("use a number that fits into fp32");
    const auto* word = std::get_if<std::string>(&*typed);
    if (word == nullptr || spec.choices.empty()) return {};
    std::string names;
    for (const FieldChoice& choice : spec.choices) {
        if (choice.value == *word) return {};
        names += (names.empty() ? "" : ", ") + choice.value;
    }
    return msg("use one of {}", names);
}

void complete(Options& options, std::span<const OptionSpec> specs) {
    for (const OptionSpec& spec : specs) {
        const auto [at, added] = options.try_emplace(spec.name, spec.default_value);
        if (added) continue;
        if (auto typed = convert_like(spec.default_value, at->second))
            at->second = std::move(*typed);
    }
}

std::string to_string(const OptionValue& value) {
    std::ostringstream out;
    out.precision(std::numeric_limits<double>::max_digits10);
    std::visit(
        [&out](const auto& v) {
            if constexpr (requires { v.begin(); } &&
                          !std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
                for (const auto& item : v) out << item << '\x1f';
            } else {
                out << v;
            }
        },
        value);
    return out.str();
}

template <typename T>
T TypedOptions::get(std::string_view name) const {
    const OptionSpec* spec = find_option(specs_, name);
    if (spec == nullptr) throw Error(ErrorCode::state, "there is no option " + std::string(name));
    const auto found = given_.find(std::string(name));
    if (found == given_.end()) return std::get<T>(spec->default_value);
    const auto typed = convert_like(spec->default_value, found->second);
    if (!typed)
        throw Error(ErrorCode::settings, std::string(name) + ": " + option_type(*spec).str());
    return std::get<T>(*typed);
}

std::size_t TypedOptions::choice(std::string_view name) const {
    const std::string given = word(name);
    const OptionSpec& spec = *find_option(specs_, name);
    const auto found = std::ranges::find(spec.choices, given, &FieldChoice::value);
    if (found == spec.choices.end())
        throw Error(ErrorCode::settings,
                    spec.name + ": " + given + ": " + check_option(spec, given).str());
    return static_cast<std::size_t>(found - spec.choices.begin());
}

template bool TypedOptions::get(std::string_view) const;
template std::int64_t TypedOptions::get(std::string_view) const;
template double TypedOptions::get(std::string_view) const;
template std::string TypedOptions::get(std::string_view) const;
template std::vector<std::int64_t> TypedOptions::get(std::string_view) const;
template std::vector<std::string> TypedOptions::get(std::string_view) const;

}  // namespace engine
