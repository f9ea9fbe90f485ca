#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// Value of an option: a flag, a whole number, a number, a word, or a list of whole numbers or
/// words.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 std::vector<std::string>>;

/// Values by name. An option that is not in it has its default.
using Options = std::map<std::string, OptionValue>;

/// One value of an option or setting that takes few.
struct FieldChoice {
    std::string value;         ///< as in JSON: "cosine", "true"
    std::string title;         ///< "Cosine"
    std::string summary = {};  ///< one sentence, or empty

    bool operator==(const FieldChoice&) const = default;
};

/// An option of a model, data set, optimizer or schedule: the only place that knows its default.
/// Texts are English; the window translates them by looking the whole text up.
struct OptionSpec {
    std::string name;                ///< as in JSON
    std::string label;               ///< "Hidden layers"
    OptionValue default_value = {};  ///< its type is the option's
    std::string help;                ///< one or two sentences
    std::string unit = {};           ///< "rows", or empty
    /// Bounds of a number, and of each number of a list.
    double lowest = -std::numeric_limits<double>::infinity();
    double highest = std::numeric_limits<double>::infinity();
    bool above_lowest = false;  ///< `lowest` itself is refused
    bool below_highest = false;
    bool fits_f32 = false;                  ///< a number that is not 0 must be in the range of fp32
    std::vector<FieldChoice> choices = {};  ///< of a word; empty: any
    bool prominent = false;                 ///< shown without being asked for
    bool is_file = false;    ///< a word that is the path of a file; empty: none
    std::string needs = {};  ///< the flag of the same kind without which it plays no part
};

/// Traits of option().
namespace opt {
inline constexpr auto prominent = [](OptionSpec& spec) { spec.prominent = true; };
inline constexpr auto is_file = [](OptionSpec& spec) { spec.is_file = true; };
inline constexpr auto fits_f32 = [](OptionSpec& spec) { spec.fits_f32 = true; };
inline auto at_least(double lowest) {
    return [=](OptionSpec& spec) { spec.lowest = lowest; };
}
inline auto above(double lowest) {
    return [=](OptionSpec& spec) { spec.lowest = lowest, spec.above_lowest = true; };
}
inline auto between(double lowest, double highest) {
    return [=](OptionSpec& spec) { spec.lowest = lowest, spec.highest = highest; };
}
inline auto from_to_below(double lowest, double highest) {
    return [=](OptionSpec& spec) {
        between(lowest, highest)(spec);
        spec.below_highest = true;
    };
}
inline auto unit(const char* unit) {
    return [=](OptionSpec& spec) { spec.unit = unit; };
}
inline auto needs(const char* flag) {
    return [=](OptionSpec& spec) { spec.needs = flag; };
}
inline auto one_of(std::vector<FieldChoice> choices) {
    return [choices = std::move(choices)](OptionSpec& spec) { spec.choices = choices; };
}
}  // namespace opt

/// An option, with traits in any order: option("layers", "Layers", std::int64_t{2}, "Blocks on top
/// of each other.", opt::between(1, 256), opt::prominent).
template <typename... Traits>
OptionSpec option(std::string name, std::string label, OptionValue default_value, std::string help,
                  const Traits&... traits) {
    OptionSpec spec{.name = std::move(name),
                    .label = std::move(label),
                    .default_value = std::move(default_value),
                    .help = std::move(help)};
    (traits(spec), ...);
    return spec;
}

/// Null if there is no such option.
const OptionSpec* find_option(std::span<const OptionSpec> specs, std::string_view name);

/// Says what is wrong with a value of this option: "use a number from 0 to below 1". Empty text if
/// it is valid.
Message check_option(const OptionSpec& spec, const OptionValue& value);

/// Says what an option of this type takes: "use a number".
Message option_type(const OptionSpec& spec);

/// Gives each option its type, and the default where none is given. Values of another type and
/// options of other kinds stay as they are.
void complete(Options& options, std::span<const OptionSpec> specs);

/// The options of one kind as given, by their types; what is left out has its default. A whole
/// number stands for a number and for a list of one, "64, 64" for a list. `specs` must outlive it.
/// Throws Error(state) for an option that `specs` does not have, and Error(settings) for a value of
/// another type.
class TypedOptions {
public:
    TypedOptions(const Options& given, std::span<const OptionSpec> specs)
        : given_(given), specs_(specs) {}
    bool flag(std::string_view name) const { return get<bool>(name); }
    std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
    double number(std::string_view name) const { return get<double>(name); }
    std::string word(std::string_view name) const { return get<std::string>(name); }
    /// The place of the word among the option's choices. Throws Error(settings) for another word.
    std::size_t choice(std::string_view name) const;
    std::vector<std::int64_t> integers(std::string_view name) const {
        return get<std::vector<std::int64_t>>(name);
    }
    std::vector<std::string> words(std::string_view name) const {
        return get<std::vector<std::string>>(name);
    }

private:
    template <typename T>
    T get(std::string_view name) const;

    Options given_;
    std::span<const OptionSpec> specs_;
};

/// An option that does not go with the others.
struct OptionConflict {
    std::string name;
    Message allowed;
};

/// Different values have different texts: for keys of caches.
std::string to_string(const OptionValue& value);

}  // namespace engine
