#include "data/csv/csv_header.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "data/csv/csv_text.h"
#include "engine/base/error.h"

namespace engine {
namespace {

bool is_numeric(const CsvColumnScan& column) {
    return column.numeric() > 0 && column.numeric() == column.present();
}

/// Numbers but for a few cells, such as a header that stands in the table once more.
bool is_mostly_numeric(const CsvColumnScan& column) {
    return column.numeric() * 10 > column.present() * 9;
}

bool is_word(const std::string& field) {
    const CsvContent content = parse_csv_value(field).content;
    return content == CsvContent::word || content == CsvContent::decimal_comma;
}

bool is_whole(double number) { return number == std::floor(number); }

bool is_year(double number) { return number >= 1000 && number < 3000; }

/// Whether the number lies further from all values of the column than these lie from each other, or
/// is positive and less than a tenth of each.
bool is_far(double number, const CsvColumnScan& column) {
    if (column.numbers < 2) return false;
    const double spread = column.highest - column.lowest;
    const bool is_tiny = number > 0 && column.lowest > 10 * number;
    return number > column.highest + spread || number < column.lowest - spread || is_tiny;
}

}  // namespace

std::optional<SpacedNumbers> spaced_numbers(std::span<const std::string> first_row,
                                            std::span<const CsvColumnScan> columns) {
    constexpr std::size_t fewest = 3;
    const auto in_column = [&](std::size_t i) {
        const CsvValue value = parse_csv_value(first_row[i]);
        const bool number = value.content == CsvContent::number && value.plain;
        return number && is_whole(value.number) && is_numeric(columns[i])
                   ? std::optional(value.number)
                   : std::nullopt;
    };
    SpacedNumbers out;
    std::size_t count = 0;
    bool all_years = true, all_far = true;
    double before = 0, distance = 0;
    for (std::size_t i = 0; i < first_row.size(); ++i) {
        const auto number = in_column(i);
        if (!number) {
            if (!trimmed(first_row[i]).empty() && !is_word(first_row[i])) return std::nullopt;
            continue;
        }
        if (count == 0) out.first = i;
        if (count == 1) distance = *number - before;
        const bool follows = i == out.first + count && (count < 2 || *number == before + distance);
        if (!follows || (count > 0 && distance <= 0)) return std::nullopt;
        out.last = i;
        all_years = all_years && is_year(*number);
        all_far = all_far && is_far(*number, columns[i]);
        before = *number;
        ++count;
    }
    if (count < fewest || !(all_years || all_far)) return std::nullopt;
    out.names_columns = all_years && all_far;
    return out;
}

std::size_t counted_columns(std::span<const std::string> row) {
    return row.size() - (!row.empty() && trimmed(row[0]).empty() ? 1 : 0);
}

bool counts_columns(std::span<const std::string> row) {
    const auto counted = row.last(counted_columns(row));
    if (counted.size() < 2) return false;
    const bool from_zero = trimmed(counted[0]) == "0";
    for (std::size_t i = 0; i < counted.size(); ++i) {
        if (trimmed(counted[i]) != std::to_string(from_zero ? i : i + 1)) return false;
    }
    return true;
}

bool is_csv_header(std::span<const std::string> first_row, std::span<const CsvColumnScan> columns,
                   const std::vector<bool>& recurs) {
    // Two small numbers are no rare row: they are data where both recur.
    if (counts_columns(first_row))
        return counted_columns(first_row) > 2 ||
               std::find(recurs.begin(), recurs.end(), false) != recurs.end();
    if (const auto spaced = spaced_numbers(first_row, columns); spaced && spaced->names_columns)
        return true;
    bool numeric = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (!is_numeric(columns[i])) continue;
        if (is_word(first_row[i])) return true;
        numeric = true;
    }
    const bool no_number =
        std::none_of(first_row.begin(), first_row.end(),
                     [](const std::string& field) { return is_plain_number(field); });
    // Words and empty names above numbers.
    if (no_number && std::any_of(columns.begin(), columns.end(), is_mostly_numeric))
        return std::any_of(first_row.begin(), first_row.end(), is_word);
    if (numeric) return false;
    const std::set<std::string_view> different(first_row.begin(), first_row.end());
    return no_number && different.size() == first_row.size() &&
           std::find(recurs.begin(), recurs.end(), true) == recurs.end();
}

void name_csv_columns(CsvScan& scan, std::span<const std::string> first_row,
                      const std::string& file, std::int64_t line) {
    std::set<std::string_view> taken;
    for (std::size_t i = 0; i < first_row.size(); ++i) {
        const std::string_view name = trimmed(first_row[i]);
        const bool named = scan.has_header && !name.empty();
        scan.named.push_back(named);
        scan.names.push_back(named ? std::string(name) : "column " + std::to_string(i + 1));
        if (!named || taken.insert(name).second) continue;
        throw Error(ErrorCode::data,
                    msg("{}, line {}: two columns are named \"{}\"", file, line, shortened(name)),
                    msg("Rename one of them, or set dataset.header to false if this row is data."));
    }
}

}  // namespace engine
