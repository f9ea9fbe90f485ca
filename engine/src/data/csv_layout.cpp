#include "data/csv_layout.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "data/csv_text.h"
#include "engine/error.h"

namespace engine {
namespace {

/// Levenshtein distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (const char wanted : a) {
        std::size_t diagonal = row[0]++;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (wanted == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

Message known_names(const CsvScan& scan, const std::string& wanted) {
    if (!scan.has_header) {
        return msg("The table has no header: give the number of a column, from 1 to {}.",
                   scan.columns.size());
    }
    constexpr std::size_t most = 8;
    std::vector<std::string> names;
    for (const auto& name : scan.names) names.push_back(shortened(name));
    if (names.size() <= most) return msg("The columns are: {}.", listed(names, most));
    const std::string searched = shortened(wanted);
    std::stable_sort(names.begin(), names.end(), [&](const auto& a, const auto& b) {
        return edit_distance(searched, a) < edit_distance(searched, b);
    });
    names.resize(most);
    return msg("The nearest names are: {}.", listed(names, most));
}

std::size_t find_column(const CsvSource& source, const CsvScan& scan, const char* option,
                        const std::string& wanted) {
    const std::string_view name = trimmed(wanted);
    const auto found = std::find(scan.names.begin(), scan.names.end(), name);
    if (found != scan.names.end()) return static_cast<std::size_t>(found - scan.names.begin());
    std::size_t number = 0;
    const auto [stop, status] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool whole = status == std::errc{} && stop == name.data() + name.size();
    if (!scan.has_header && whole && number >= 1 && number <= scan.names.size()) return number - 1;
    throw Error(ErrorCode::data,
                msg("{}: there is no column \"{}\", which dataset.{} names",
                    source.files.front().string(), shortened(wanted), option),
                known_names(scan, wanted));
}

class Planner {
public:
    Planner(const CsvSource& source, const CsvScan& scan) : source_(source), scan_(scan) {}

    CsvLayout run() {
        assign_roles();
        assign_types();
        if (source_.options.missing == CsvMissing::refuse) refuse_missing();
        return std::move(layout_);
    }

private:
    std::string name(CsvPlace place) const { return source_.files[place.file].string(); }
    bool used(std::size_t column) const { return layout_.roles[column] != CsvRole::unused; }

    void assign_roles() {
        const CsvOptions& options = source_.options;
        const std::size_t count = scan_.columns.size();
        layout_.target = options.target.empty() ? count - 1 : find("target", options.target);
        const bool all = options.columns.empty();
        layout_.roles.assign(count, all ? CsvRole::feature : CsvRole::unused);
        for (const auto& column : options.columns)
            layout_.roles[find("columns", column)] = CsvRole::feature;
        layout_.roles[layout_.target] = CsvRole::target;
        const auto& roles = layout_.roles;
        if (std::find(roles.begin(), roles.end(), CsvRole::feature) != roles.end()) return;
        throw Error(ErrorCode::data,
                    msg("{}: dataset.columns leaves no feature beside the target {}",
                        source_.files.front().string(), scan_.shown(layout_.target)),
                    msg("List at least one other column, or none to use them all."));
    }

    std::size_t find(const char* option, const std::string& wanted) const {
        return find_column(source_, scan_, option, wanted);
    }

    void assign_types() {
        std::vector<bool> listed_as_words(scan_.columns.size());
        for (const auto& column : source_.options.categorical)
            listed_as_words[find("categorical", column)] = true;
        for (std::size_t i = 0; i < scan_.columns.size(); ++i) {
            const CsvColumnScan& column = scan_.columns[i];
            const bool all_numbers = column.numbers > 0 && column.numbers == column.present();
            if (used(i)) refuse_empty(i);
            if (used(i) && !listed_as_words[i] && !all_numbers) check_words(i);
            layout_.categorical.push_back(listed_as_words[i] || !all_numbers);
        }
    }

    void refuse_empty(std::size_t i) const {
        if (scan_.columns[i].present() > 0) return;
        throw Error(ErrorCode::data,
                    msg("{}: every value of column {} is missing", source_.files.front().string(),
                        scan_.shown(i)),
                    i == layout_.target ? msg("Set dataset.target to another column.")
                                        : msg("List the other columns in dataset.columns."));
    }

    /// A column that is not numeric is categorical, unless it looks like numbers gone wrong.
    void check_words(std::size_t i) const {
        const CsvColumnScan& column = scan_.columns[i];
        if (column.words.count == 0) {
            if (column.out_of_range.count > 0) refuse_out_of_range(i);
            refuse_decimal_comma(i);
        }
        if (column.numeric() * 10 <= column.present() * 9) return;
        const CsvFinding& odd =
            column.decimal_commas.count > 0 && column.decimal_commas.first < column.words.first
                ? column.decimal_commas
                : column.words;
        throw Error(ErrorCode::data,
                    msg("{}, line {}, column {}: \"{}\" among numbers", name(odd.first),
                        odd.first.line, scan_.shown(i), odd.text),
                    odd.first.line == 1 && !scan_.has_header
                        ? msg("Set dataset.header to true if the first row holds the names of the "
                              "columns.")
                        : msg("Correct the value, or list the column in dataset.categorical to "
                              "treat its values as words."));
    }

    [[noreturn]] void refuse_out_of_range(std::size_t i) const {
        const CsvFinding& found = scan_.columns[i].out_of_range;
        throw Error(ErrorCode::data,
                    msg("{}, line {}, column {}: {} is infinite or too large for a 32-bit float",
                        name(found.first), found.first.line, scan_.shown(i), found.text),
                    msg("Correct the value, or leave it empty to mark it as missing."));
    }

    [[noreturn]] void refuse_decimal_comma(std::size_t i) const {
        const CsvFinding& found = scan_.columns[i].decimal_commas;
        throw Error(ErrorCode::data,
                    msg("{}, line {}, column {}: \"{}\" is a number with a comma",
                        name(found.first), found.first.line, scan_.shown(i), found.text),
                    msg("Write numbers with a decimal point and without thousands separators, or "
                        "list the column in dataset.categorical."));
    }

    void refuse_missing() const {
        std::optional<std::size_t> earliest;
        for (std::size_t i = 0; i < scan_.columns.size(); ++i) {
            const CsvFinding& missing = scan_.columns[i].missing;
            if (!used(i) || missing.count == 0) continue;
            if (!earliest || missing.first < scan_.columns[*earliest].missing.first) earliest = i;
        }
        if (!earliest) return;
        const CsvFinding& missing = scan_.columns[*earliest].missing;
        throw Error(ErrorCode::data,
                    msg("{}, line {}, column {}: the value is missing, as in {} of {} rows",
                        name(missing.first), missing.first.line, scan_.shown(*earliest),
                        missing.count, scan_.rows),
                    msg("Set dataset.missing to \"drop\" to leave such rows out, or to \"mean\" to "
                        "fill the gaps."));
    }

    const CsvSource& source_;
    const CsvScan& scan_;
    CsvLayout layout_;
};

}  // namespace

CsvLayout plan_csv_columns(const CsvSource& source, const CsvScan& scan) {
    return Planner(source, scan).run();
}

}  // namespace engine
