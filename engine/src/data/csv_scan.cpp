#include "data/csv_scan.h"

#include <algorithm>
#include <utility>

#include "data/csv_format.h"
#include "data/csv_header.h"
#include "data/csv_text.h"
#include "engine/error.h"

namespace engine {
namespace {

constexpr std::size_t most_shown_bytes = std::size_t{4} << 20;

char delimiter_of(const CsvSource& source) {
    if (source.options.delimiter != '\0') return source.options.delimiter;
    constexpr std::size_t sample_bytes = std::size_t{1} << 20;
    const std::string sample = csv_sample(source.files.front(), sample_bytes, source.stop);
    const char found = find_csv_delimiter(sample, is_whole_csv_sample(sample, sample_bytes));
    return found == '\0' ? ',' : found;
}

struct FirstRow {
    CsvPlace place;
    std::vector<std::string> fields;
};

/// The first row of each file is kept apart until it is known whether it is a header.
class Scanner {
public:
    explicit Scanner(const CsvSource& source) : source_(source) {
        scan_.delimiter = delimiter_of(source);
    }

    CsvScan run() {
        for (std::size_t file = 0; file < source_.files.size(); ++file) scan_file(file);
        scan_.has_header = source_.options.header == CsvHeader::automatic
                               ? is_csv_header(first_rows_[0].fields, scan_.columns, recurs_)
                               : source_.options.header == CsvHeader::present;
        name_csv_columns(scan_, first_rows_[0].fields, name(0), first_rows_[0].place.line);
        settle_first_rows();
        if (scan_.rows == 0) {
            throw Error(ErrorCode::data, msg("{}: no rows below the header", name(0)),
                        msg("Set dataset.header to false if the first row is data."));
        }
        return std::move(scan_);
    }

private:
    std::string name(std::size_t file) const { return source_.files[file].string(); }

    void scan_file(std::size_t file) {
        const std::size_t before = first_rows_.size();
        read_csv_rows(
            source_.files[file], scan_.delimiter, source_.read_options(), [&](const CsvRow& row) {
                const CsvPlace place{file, row.line};
                const bool first = first_rows_.size() == before;
                if (before == 0 && first) begin_table(row);
                check_width(place, row.fields.size());
                if (file == 0) show(row.fields);
                if (first) {
                    first_rows_.push_back({place, {row.fields.begin(), row.fields.end()}});
                } else {
                    add(place, row.fields);
                }
                return true;
            });
        if (first_rows_.size() > before) return;
        throw Error(ErrorCode::data, msg("{}: contains no rows", name(file)),
                    msg("Give a file with a row for each sample."));
    }

    void begin_table(const CsvRow& row) {
        if (row.fields.size() == 1) {
            throw Error(ErrorCode::data,
                        msg("{}: only one column was found; a table needs a target and at least "
                            "one feature",
                            name(0)),
                        msg("Set dataset.delimiter if the columns are separated in another way."));
        }
        scan_.columns.resize(row.fields.size());
        recurs_.resize(row.fields.size());
    }

    void check_width(CsvPlace place, std::size_t width) const {
        const std::size_t expected = scan_.columns.size();
        if (width == expected) return;
        throw Error(ErrorCode::data,
                    msg("{}, line {}: {} fields where the first row has {}", name(place.file),
                        place.line, width, expected),
                    msg("Correct the row; a field that contains the delimiter needs quotation "
                        "marks."));
    }

    void show(std::span<const std::string_view> fields) {
        if (scan_.first_rows.size() > most_first_rows || shown_bytes_ > most_shown_bytes) return;
        auto& row = scan_.first_rows.emplace_back();
        for (const auto field : fields) {
            row.push_back(shortened(field, most_shown_characters));
            shown_bytes_ += row.back().size() + sizeof(std::string);
        }
    }

    template <typename Fields>
    void add(CsvPlace place, const Fields& fields) {
        ++scan_.rows;
        const auto& first = first_rows_.front();
        const bool is_first = place == first.place;
        for (std::size_t i = 0; i < scan_.columns.size(); ++i) {
            scan_.columns[i].add(place, fields[i]);
            if (!is_first && fields[i] == first.fields[i]) recurs_[i] = true;
        }
    }

    void settle_first_rows() {
        if (scan_.has_header) {
            check_headers();
            scan_.first_rows.erase(scan_.first_rows.begin());
        } else {
            for (const auto& row : first_rows_) add(row.place, row.fields);
        }
        if (scan_.first_rows.size() > most_first_rows) scan_.first_rows.resize(most_first_rows);
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
    std::vector<FirstRow> first_rows_;  // one a file
    std::vector<bool> recurs_;          // the first row's field, in its column
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

void CsvColumnScan::add(CsvPlace place, std::string_view field) {
    const CsvValue value = parse_csv_value(field);
    switch (value.content) {
        case CsvContent::missing:
            return missing.add(place, field);
        case CsvContent::out_of_range:
            return out_of_range.add(place, field);
        case CsvContent::decimal_comma:
            return decimal_commas.add(place, field);
        case CsvContent::word:
            return words.add(place, field);
        case CsvContent::number:
            break;
    }
    lowest = numbers == 0 ? value.number : std::min(lowest, value.number);
    highest = numbers == 0 ? value.number : std::max(highest, value.number);
    ++numbers;
    // Welford's recurrence: one pass, without the cancellation of a sum of squares.
    const double offset = value.number - mean;
    mean += offset / static_cast<double>(numbers);
    squared_offset += offset * (value.number - mean);
}

std::string CsvScan::shown(std::size_t column) const {
    return named[column] ? '"' + shortened(names[column]) + '"' : std::to_string(column + 1);
}

CsvScan scan_csv(const CsvSource& source) { return Scanner(source).run(); }

}  // namespace engine
