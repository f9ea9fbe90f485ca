#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/runs/run_store.h"

namespace engine {

/// A field for searching, sorting and comparing runs: a setting under its path, or a result.
struct RunField {
    enum class Kind {
        number,
        flag,
        text,
        date,   ///< ISO 8601
        mixed,  ///< numbers and texts: a run's id, and options whose type depends on the kind
    };
    std::string name;   ///< "optimizer.lr", "test_accuracy"
    std::string label;  ///< "Learning rate", in English; the name where the catalog has none
    Kind kind = Kind::text;
    bool is_setting = false;
};

/// Results and notes first, then the settings in the order of their JSON form. Metrics are
/// `test_KEY`: of every task, and of these runs.
std::vector<RunField> run_fields(std::span<const RunSummary> runs = {});
/// Null if there is none of that name.
const RunField* find_run_field(std::span<const RunField> fields, std::string_view name);

/// Nothing: the run lacks the setting, or the figure was not measured.
using RunValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
inline bool is_known(const RunValue& value) {
    return !std::holds_alternative<std::monostate>(value);
}

/// The value of a field. Presets are resolved; a list is "64,32". For a run of another program only
/// the settings common to both programs are known.
RunValue value_of(const RunSummary& run, const RunField& field);
/// "0.05", "true"; empty for an unknown value.
std::string to_string(const RunValue& value);

/// Positions of the runs sorted by a field: numbers before texts, unknown values last in both
/// directions. Stable.
std::vector<std::size_t> order_by(std::span<const RunSummary> runs, const RunField& field,
                                  bool descending);

/// A field in which runs differ, with the value of each.
struct RunDifference {
    std::string field;
    std::vector<std::string> values;  ///< in the order of the runs; empty: unknown
};
/// The settings in which these runs differ, in the order of their JSON form: as setting_text(), but
/// words without quotes.
std::vector<RunDifference> differing_settings(std::span<const RunSummary> runs);
/// The settings of one run that differ from the defaults; of options, from those of the chosen
/// kinds. One value each.
std::vector<RunDifference> changed_settings(const RunSummary& run);
/// State, steps, times and test figures of these runs; leaves out figures that none of them has.
std::vector<RunDifference> compare_results(std::span<const RunSummary> runs);

}  // namespace engine
