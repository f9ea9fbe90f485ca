#include "data/csv/csv_scan.h"

#include <algorithm>
#include <cmath>

#include "base/text_utf8.h"
#include "data/csv/csv_format.h"
#include "data/csv/csv_header.h"
#include "engine/base/error.h"

namespace engine {
namespace {

constexpr std::size_t max_shown_bytes = std::size_t{4} << 20;

/// "2020-01-05", "12:30", "A1234", "0x1f".
bool has_more_digits(std::string_view field) {
    if (trimmed(field).starts_with("0x")) return true;
    std::ptrdiff_t digits = 0, letters = 0;
    for (const char c : field) {
        digits += is_digit(c) ? 1 : 0;
        letters += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0 ? 1 : 0;
    }
    return digits > letters;
}

struct FirstRow {
    CsvPlace place;
    std::vector<std::string> fields;
};

/// The first row of each file is kept apart until it is known whether it is a header.
/// Whether the values of a column count the rows so far.
struct Counting {
    bool holds = true;
    double first = 0;

    void see(const CsvValue& value, std::int64_t row) {
        const double start = value.number - static_cast<double>(row);
        if (row == 0) first = start;
        holds = holds && value.content == CsvContent::number && value.plain && start == first;
    }
};

/// The first row of each file is kept apart until it is known whether it is a header.
class Scanner {
public:
    explicit Scanner(const CsvSource& source) : source_(source) {
        scan_.delimiter = source.options.delimiter;
    }

    CsvScan run() {
        for (std::size_t file = 0; file < source_.files.size(); ++file) scan_file(file);
        const auto& first = first_rows_[0];
        scan_.has_header = source_.options.header == CsvHeader::automatic
                               ? is_csv_header(first.fields, scan_.columns, recurs_)
                               : source_.options.header == CsvHeader::present;
        name_csv_columns(scan_, first.fields, name(0), first.place.line);
        warn_of_numbered_header();
        settle_first_rows();
        if (scan_.rows == 0) {
            throw Error(ErrorCode::data, msg("{}: no rows below the header", name(0)),
                        msg("Set dataset.header to false if the first row is data."));
        }
        check_short_rows();
        return std::move(scan_);
    }

private:
    std::string name(std::size_t file) const { return source_.files[file].string(); }

    void scan_file(std::size_t file) {
        find_start(file);
        const std::size_t before = first_rows_.size();
        const auto take = [&](const CsvRow& row) {
            const CsvPlace place{file, row.line};
            const bool first = first_rows_.size() == before;
            if (before == 0 && first) begin_table(row);
            const auto fields = fitted_fields(place, row.fields);
            if (file == 0) show(fields);
            if (first) {
                first_rows_.push_back({place, {fields.begin(), fields.end()}});
            } else {
                add(place, fields);
            }
            return true;
        };
        read_csv_rows(source_.files[file], scan_.delimiter, source_.read_options(), take,
                      scan_.skipped_lines[file]);
        if (first_rows_.size() > before) return;
        throw Error(ErrorCode::data, msg("{}: contains no rows", name(file)),
                    msg("Give a file with a row for each sample."));
    }

    void find_start(std::size_t file) {
        const CsvStart start = find_csv_start(source_.files[file], scan_.delimiter, source_.stop);
        if (scan_.delimiter == '\0') {
            scan_.delimiter = start.delimiter == '\0' ? ',' : start.delimiter;
            if (scan_.delimiter == ' ') {
                scan_.warnings.push_back(
                    msg("{}: blanks separate the columns; set dataset.delimiter if they do not",
                        name(file)));
            }
        }
        scan_.skipped_lines.push_back(start.skipped_lines);
        if (start.skipped_lines > 0) {
            scan_.warnings.push_back(
                msg("{}: lines above the table are skipped: {}", name(file), start.skipped_lines));
        }
    }

    void begin_table(const CsvRow& row) {
        std::size_t filled = row.fields.size();
        while (filled > 1 && trimmed(row.fields[filled - 1]).empty()) --filled;
        if (row.fields.size() == 1) {
            throw Error(ErrorCode::data,
                        msg("{}: only one column was found; a table needs a target and at least "
                            "one feature",
                            name(0)),
                        msg("Set dataset.delimiter if the columns are separated in another way."));
        }
        const std::size_t columns = row.fields.size();
        scan_.columns.resize(columns);
        scan_.min_fields = filled;
        recurs_.resize(columns);
        counting_.resize(columns);
        fit_.emplace(columns, filled);
    }

    std::span<const std::string_view> fitted_fields(CsvPlace place,
                                                    std::span<const std::string_view> fields) {
        const auto fitted = fit_->fit(fields);
        if (!fitted) refuse_width(place, fields.size());
        if (fields.size() < scan_.columns.size() && short_row_.line == 0)
            short_row_ = place, short_fields_ = fields.size();
        return *fitted;
    }

    [[noreturn]] void refuse_width(CsvPlace place, std::size_t width) const {
        throw Error(ErrorCode::data,
                    msg("{}, line {}: {} fields where the first row has {}", name(place.file),
                        place.line, width, scan_.columns.size()),
                    msg("Correct the row; a field that contains the delimiter needs quotation "
                        "marks."));
    }

    /// A row may lack the fields of columns that hold nothing at all.
    void check_short_rows() const {
        if (short_row_.line == 0) return;
        for (std::size_t i = scan_.min_fields; i < scan_.columns.size(); ++i) {
            const CsvColumnScan& column = scan_.columns[i];
            if (column.present() + column.missing_words.count > 0)
                refuse_width(short_row_, short_fields_);
        }
    }

    void show(std::span<const std::string_view> fields) {
        if (scan_.first_rows.size() > max_first_rows || shown_bytes_ > max_shown_bytes) return;
        auto& row = scan_.first_rows.emplace_back();
        for (const auto field : fields) {
            row.push_back(shortened(field, max_shown_characters));
            shown_bytes_ += row.back().size() + sizeof(std::string);
        }
    }

    template <typename Fields>
    void add(CsvPlace place, const Fields& fields) {
        const auto& first = first_rows_.front();
        const bool is_first = place == first.place;
        for (std::size_t i = 0; i < scan_.columns.size(); ++i) {
            const CsvValue value = parse_csv_value(fields[i], source_.options.words_for_missing());
            scan_.columns[i].add(place, fields[i], value);
            if (is_first) {
                first_values_.push_back(value);
            } else {
                counting_[i].see(value, scan_.rows);
                if (fields[i] == first.fields[i]) recurs_[i] = true;
            }
        }
        ++scan_.rows;
    }

    /// Warns because a first row of numbers may be a header or data.
    void warn_of_numbered_header() {
        const auto& fields = first_rows_[0].fields;
        if (source_.options.header != CsvHeader::automatic) return;
        std::string first, last;
        if (counts_columns(fields)) {
            first = fields[fields.size() - counted_columns(fields)];
            last = fields.back();
        } else if (const auto spaced = spaced_numbers(fields, scan_.columns)) {
            first = fields[spaced->first];
            last = fields[spaced->last];
        } else {
            return;
        }
        scan_.warnings.push_back(
            scan_.has_header
                ? msg("{}: the first row ({} to {}) is read as the names of the columns; set "
                      "dataset.header to false if it is data",
                      name(0), first, last)
                : msg("{}: the first row ({} to {}) is read as data; set dataset.header to true if "
                      "it holds the names of the columns",
                      name(0), first, last));
    }

    void settle_first_rows() {
        if (scan_.has_header) {
            check_headers();
            scan_.first_rows.erase(scan_.first_rows.begin());
        } else {
            for (const auto& row : first_rows_) add(row.place, row.fields);
        }
        if (scan_.first_rows.size() > max_first_rows) scan_.first_rows.resize(max_first_rows);
        for (std::size_t i = 0; i < counting_.size(); ++i) scan_.counts_rows.push_back(counts(i));
    }

    /// The row that turned out to be no header stands before those that were counted.
    bool counts(std::size_t column) const {
        constexpr std::int64_t fewest = 3;
        const Counting& counting = counting_[column];
        if (!counting.holds || scan_.rows < fewest) return false;
        double first = counting.first;
        if (!scan_.has_header) {
            first = first_values_[column].number;
            if (source_.files.size() > 1 || first_values_[column].content != CsvContent::number ||
                counting.first != first + 1)
                return false;
        }
        return first == 0 || first == 1;
    }

    void check_headers() const {
        for (const auto& row : first_rows_) {
            const auto& expected = first_rows_.front().fields;
            const auto found = std::mismatch(expected.begin(), expected.end(), row.fields.begin());
            if (found.first == expected.end()) continue;
            throw Error(ErrorCode::data,
                        msg("{}, line {}: the header has \"{}\" where that of {} has \"{}\"",
                            name(row.place.file), row.place.line, shortened(*found.second), name(0),
                            shortened(*found.first)),
                        msg("Give files with the same columns in the same order."));
        }
    }

    const CsvSource& source_;
    CsvScan scan_;
    std::vector<FirstRow> first_rows_;    // one a file
    std::vector<CsvValue> first_values_;  // of the first file's, if it is no header
    std::vector<bool> recurs_;            // the first row's field, in its column
    std::vector<Counting> counting_;
    std::optional<CsvRowFit> fit_;
    CsvPlace short_row_{};  // the first that lacks fields; line 0: none
    std::size_t short_fields_ = 0;
    std::size_t shown_bytes_ = 0;
};

}  // namespace

void CsvFinding::add(CsvPlace place, std::string_view field) {
    // Rows that turn out to be no header are added last.
    if (count == 0 || place < first) {
        first = place;
        text = shortened(field);
    }
    ++count;
}

void CsvTally::add(std::string_view text) {
    constexpr std::size_t most = 8;
    for (auto& [known, count] : texts) {
        if (known != text) continue;
        ++count;
        return;
    }
    if (texts.size() < most)
        texts.emplace_back(shortened(text), 1);
    else
        ++others;
}

std::int64_t CsvTally::total() const {
    std::int64_t sum = others;
    for (const auto& each : texts) sum += each.second;
    return sum;
}

void CsvColumnScan::add(CsvPlace place, std::string_view field, const CsvValue& value) {
    if (value.beyond_double) beyond_double.add(place, field);
    switch (value.content) {
        case CsvContent::missing:
            if (trimmed(field).empty()) return empty.add(place, field);
            different_missing.add(trimmed(field));
            return missing_words.add(place, field);
        case CsvContent::out_of_range:
            return out_of_range.add(place, field);
        case CsvContent::decimal_comma:
            return decimal_commas.add(place, field);
        case CsvContent::word:
            different_words.add(trimmed(field));
            digit_words += has_more_digits(field) ? 1 : 0;
            return words.add(place, field);
        case CsvContent::number:
            return add_number(place, field, value);
    }
}

void CsvColumnScan::add_number(CsvPlace place, std::string_view field, const CsvValue& value) {
    if (!value.plain) {
        written.add(place, field);
        if (!value.unit.empty()) units.add(value.unit);
        if (value.ambiguous) ambiguous_commas.add(place, field);
        commas += value.commas ? 1 : 0;
    }
    fractions += value.number == std::floor(value.number) ? 0 : 1;
    lowest = numbers == 0 ? value.number : std::min(lowest, value.number);
    highest = numbers == 0 ? value.number : std::max(highest, value.number);
    ++numbers;
    // Welford's recurrence: one pass, without the cancellation of a sum of squares.
    const double offset = value.number - mean;
    mean += offset / static_cast<double>(numbers);
    squared_offset += offset * (value.number - mean);
}

std::optional<std::span<const std::string_view>> CsvRowFit::fit(
    std::span<const std::string_view> fields) {
    if (fields.size() == columns_) return fields;
    if (fields.size() > columns_) {
        const auto behind = fields.subspan(columns_);
        const bool empty = std::all_of(behind.begin(), behind.end(),
                                       [](auto field) { return trimmed(field).empty(); });
        if (!empty) return std::nullopt;
        return fields.first(columns_);
    }
    if (fields.size() < least_) return std::nullopt;
    filled_.assign(fields.begin(), fields.end());
    filled_.resize(columns_);
    return filled_;
}

std::string CsvScan::shown(std::size_t column) const {
    return named[column] ? '"' + shortened(names[column]) + '"' : std::to_string(column + 1);
}

CsvScan scan_csv(const CsvSource& source) { return Scanner(source).run(); }

}  // namespace engine
