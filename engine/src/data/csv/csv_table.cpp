#include "data/csv/csv_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/csv/csv_text.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"

namespace engine {
namespace {

/// The different words of a column, numbered by first appearance.
class CsvDictionary {
public:
    /// The number of a word, a new one if it was not there.
    std::size_t add(std::string_view word);
    std::size_t size() const { return numbers_.size(); }

    struct Sorted {
        std::vector<std::string> words;   ///< by bytes, so that the order of rows does not matter
        std::vector<std::size_t> places;  ///< in `words`, by number
    };
    Sorted sorted() const;

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> numbers_;
};

/// The different whole numbers of a column, numbered by first appearance.
class CsvWholeNumbers {
public:
    std::size_t add(double number);
    std::size_t size() const { return numbers_.size(); }
    /// The values in ascending order, written without a decimal point.
    CsvDictionary::Sorted sorted() const;

private:
    std::unordered_map<double, std::size_t> numbers_;
};

std::string written(double number) { return shortest_text(number); }
std::string written(const std::string& word) { return word; }

template <typename Map>
CsvDictionary::Sorted sort_keys(const Map& numbers) {
    std::vector<std::pair<typename Map::key_type, std::size_t>> items(numbers.begin(),
                                                                      numbers.end());
    std::sort(items.begin(), items.end());
    CsvDictionary::Sorted sorted;
    sorted.places.resize(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
        sorted.words.push_back(written(items[i].first));
        sorted.places[items[i].second] = i;
    }
    return sorted;
}

std::size_t CsvDictionary::add(std::string_view word) {
    if (const auto found = numbers_.find(word); found != numbers_.end()) return found->second;
    return numbers_.emplace(word, numbers_.size()).first->second;
}

CsvDictionary::Sorted CsvDictionary::sorted() const { return sort_keys(numbers_); }

std::size_t CsvWholeNumbers::add(double number) {
    // Adding zero turns -0 into 0, which would be written differently.
    return numbers_.emplace(number + 0.0, numbers_.size()).first->second;
}

CsvDictionary::Sorted CsvWholeNumbers::sorted() const { return sort_keys(numbers_); }

constexpr float missing_cell = std::numeric_limits<float>::quiet_NaN();

/// The second pass over the files: stores the columns in use, without the rows that
/// CsvOptions::missing leaves out. run() throws Error(data) for too many categories, classes or
/// features, for no rows left, and for files that changed since `scan`.
class Loader {
public:
    Loader(const CsvSource& source, const CsvScan& scan, const CsvLayout& layout)
        : source_(source),
          scan_(scan),
          layout_(layout),
          preview_(scan, layout),
          fit_(scan.columns.size(), scan.min_fields),
          values_(scan.columns.size()),
          dictionaries_(scan.columns.size()) {
        const auto rows = static_cast<std::size_t>(scan.rows);
        for (std::size_t i = 0; i < layout.roles.size(); ++i) {
            if (layout.roles[i] != CsvRole::feature) continue;
            feature_columns_.push_back(i);
            table_.features.push_back({.name = scan.names[i], .form = layout.forms[i], .place = i});
            if (!layout.forms[i].categorical) ++width_;
        }
        table_.cells.reserve(rows * feature_columns_.size());
        table_.target = scan.names[layout.target];
        table_.labels.reserve(rows);
        if (!layout.forms[layout.target].categorical) table_.target_values.reserve(rows);
    }

    CsvTable run() {
        for (std::size_t file = 0; file < source_.files.size(); ++file) {
            bool header = scan_.has_header;
            const auto take = [&](const CsvRow& row) {
                const auto fields = fit_.fit(row.fields);
                if (!fields) refuse_changed(file);
                if (!std::exchange(header, false)) add({file, row.line}, *fields);
                return true;
            };
            read_csv_rows(source_.files[file], scan_.delimiter, source_.read_options(), take,
                          scan_.skipped_lines[file]);
        }
        if (rows_read_ != scan_.rows) refuse_changed(0);
        check_rows_left();
        sort_categories();
        sort_classes();
        place_features();
        warn();
        table_.columns = preview_.finish();
        table_.has_header = scan_.has_header;
        return std::move(table_);
    }

private:
    std::string name(std::size_t file) const { return source_.files[file].string(); }

    void add(CsvPlace place, std::span<const std::string_view> fields) {
        if (rows_read_++ == scan_.rows) refuse_changed(place.file);
        const auto missing_words = source_.options.words_for_missing();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            values_[i] =
                layout_.forms[i].read(parse_csv_value(fields[i], missing_words), fields[i]);
            if (values_[i].content == CsvContent::missing) continue;
            if (layout_.forms[i].categorical) {
                preview_.add_word(i, trimmed(fields[i]));
            } else if (values_[i].content == CsvContent::number) {
                preview_.add_number(i, values_[i].number);
            } else {
                values_[i].content = CsvContent::missing;  // among numbers
            }
        }
        if (is_left_out()) return;
        ++table_.rows;
        for (const auto i : feature_columns_) table_.cells.push_back(cell(place, i, fields[i]));
        add_target(place, fields[layout_.target]);
    }

    bool is_missing(std::size_t column) const {
        return values_[column].content == CsvContent::missing;
    }

    /// A row without a target is of no use in any mode.
    bool is_left_out() const {
        if (is_missing(layout_.target)) return true;
        if (source_.options.missing == CsvMissing::mean) return false;
        for (const auto i : feature_columns_) {
            if (is_missing(i)) return true;
        }
        return false;
    }

    float cell(CsvPlace place, std::size_t i, std::string_view field) {
        if (is_missing(i)) return missing_cell;
        if (!layout_.forms[i].categorical) return static_cast<float>(values_[i].number);
        return static_cast<float>(add_word(place, i, field));
    }

    std::size_t add_word(CsvPlace place, std::size_t i, std::string_view field) {
        const std::string_view word = trimmed(field);
        const std::size_t before = dictionaries_[i].size();
        const std::size_t number = dictionaries_[i].add(word);
        if (number < before) return number;
        if (number == max_csv_categories) refuse_categories(place, i);
        if (i != layout_.target && ++width_ > max_csv_features) {
            throw Error(ErrorCode::data,
                        msg("{}: more than {} features after one-hot encoding", name(place.file),
                            max_csv_features),
                        msg("Leave columns with many different words out with dataset.without."));
        }
        if (word.size() > longest_word_.bytes) longest_word_ = {place, i, word.size()};
        word_bytes_ += static_cast<std::int64_t>(word.size());
        if (word_bytes_ > source_.max_bytes / 4) {
            throw Error(ErrorCode::data,
                        msg("{}, line {}, column {}: the words of the table take more than {} MiB",
                            name(place.file), place.line, scan_.shown(i), source_.max_bytes >> 22),
                        msg("Leave columns of long texts out with dataset.without."));
        }
        return number;
    }

    [[noreturn]] void refuse_categories(CsvPlace place, std::size_t i) const {
        const bool target = i == layout_.target;
        throw Error(ErrorCode::data,
                    target ? msg("{}, line {}, column {}: the target has more than {} classes",
                                 name(place.file), place.line, scan_.shown(i), max_csv_categories)
                           : msg("{}, line {}, column {}: more than {} different words",
                                 name(place.file), place.line, scan_.shown(i), max_csv_categories),
                    target ? msg("Set dataset.target to a column of fewer classes or of numbers.")
                           : msg("Leave the column out with dataset.without."));
    }

    void add_target(CsvPlace place, std::string_view field) {
        const std::size_t i = layout_.target;
        if (layout_.forms[i].categorical) {
            table_.labels.push_back(static_cast<std::int32_t>(add_word(place, i, field)));
            return;
        }
        const double number = values_[i].number;
        table_.target_values.push_back(static_cast<float>(number));
        whole_target_ = whole_target_ && number == std::floor(number);
        if (!whole_target_) return;
        const std::size_t label = whole_numbers_.add(number);
        whole_target_ = label < max_csv_categories;
        table_.labels.push_back(static_cast<std::int32_t>(label));
    }

    [[noreturn]] void refuse_changed(std::size_t file) const {
        throw Error(ErrorCode::data, msg("{}: the file changed while it was read", name(file)),
                    msg("Start again once nothing writes to it."));
    }

    void check_rows_left() const {
        if (table_.rows > 0) return;
        throw Error(
            ErrorCode::data,
            msg("{}: no row is left: each of the {} rows lacks a value", name(0), scan_.rows),
            msg("Leave columns with many missing values out with dataset.without, or set "
                "dataset.missing to \"mean\"."));
    }

    void sort_categories() {
        const std::size_t count = feature_columns_.size();
        for (std::size_t f = 0; f < count; ++f) {
            const CsvDictionary& words = dictionaries_[feature_columns_[f]];
            if (!layout_.forms[feature_columns_[f]].categorical) continue;
            CsvDictionary::Sorted sorted = words.sorted();
            for (std::size_t at = f; at < table_.cells.size(); at += count) {
                float& cell = table_.cells[at];
                if (std::isnan(cell)) continue;
                cell = static_cast<float>(sorted.places[static_cast<std::size_t>(cell)]);
            }
            table_.features[f].categories = std::move(sorted.words);
        }
    }

    void sort_classes() {
        const bool words = layout_.forms[layout_.target].categorical;
        if (!words && !whole_target_) {
            table_.labels = {};
            return;
        }
        CsvDictionary::Sorted sorted =
            words ? dictionaries_[layout_.target].sorted() : whole_numbers_.sorted();
        for (auto& label : table_.labels)
            label = static_cast<std::int32_t>(sorted.places[static_cast<std::size_t>(label)]);
        table_.classes = std::move(sorted.words);
    }

    void place_features() {
        for (auto& feature : table_.features) {
            feature.offset = table_.width;
            table_.width += feature.width();
        }
    }

    void warn() {
        for (const auto* told : {&scan_.warnings, &layout_.warnings})
            table_.warnings.insert(table_.warnings.end(), told->begin(), told->end());
        if (table_.rows < scan_.rows) {
            table_.warnings.push_back(msg("rows left out because a value is missing: {} of {}",
                                          scan_.rows - table_.rows, scan_.rows));
        }
        if (longest_word_.bytes > long_word_bytes) {
            table_.warnings.push_back(msg("{}, line {}, column {}: a word of {} bytes",
                                          name(longest_word_.place.file), longest_word_.place.line,
                                          scan_.shown(longest_word_.column), longest_word_.bytes));
        }
        for (std::size_t f = 0; f < feature_columns_.size(); ++f) {
            const std::size_t different = table_.features[f].categories.size();
            if (different < 2 || static_cast<std::int64_t>(different) != table_.rows) continue;
            table_.warnings.push_back(
                msg("column {} has a different word in every row; leave it out with "
                    "dataset.without if it is an identifier",
                    scan_.shown(feature_columns_[f])));
        }
    }

    struct LongWord {
        CsvPlace place;
        std::size_t column = 0;
        std::size_t bytes = 0;
    };
    /// A longer word is unusual enough for a warning.
    static constexpr std::size_t long_word_bytes = 1000;

    const CsvSource& source_;
    const CsvScan& scan_;
    const CsvLayout& layout_;
    CsvTable table_;
    CsvPreview preview_;
    CsvRowFit fit_;
    std::vector<std::size_t> feature_columns_;
    std::vector<CsvValue> values_;             // of the current row
    std::vector<CsvDictionary> dictionaries_;  // by column
    CsvWholeNumbers whole_numbers_;            // of the target
    bool whole_target_ = true;
    std::int64_t rows_read_ = 0;
    std::int64_t word_bytes_ = 0;
    LongWord longest_word_;
    std::size_t width_ = 0;  // features after one-hot encoding, so far
};

/// Refuses what would not fit before any of it is allocated.
void check_memory(const CsvSource& source, const CsvScan& scan, const CsvLayout& layout) {
    std::int64_t features = 0;
    for (const auto role : layout.roles) features += role == CsvRole::feature ? 1 : 0;
    // The target as number and label, and the row's place in its part and in the split.
    const std::int64_t row_bytes = features * 4 + 8 + 16;
    if (scan.rows <= source.max_bytes / row_bytes) return;
    throw Error(ErrorCode::data,
                msg("{}: {} rows of {} features take more than the {} MiB that a data set may use",
                    source.files.front().string(), scan.rows, features, source.max_bytes >> 20),
                msg("Use fewer columns (dataset.without), or part of the file."));
}

}  // namespace

CsvTable read_csv_table(const CsvSource& source) {
    CsvScan scan = scan_csv(source);
    const CsvLayout layout = plan_csv_columns(source, scan);
    check_memory(source, scan, layout);
    CsvTable table = Loader(source, scan, layout).run();
    table.first_rows = std::move(scan.first_rows);
    return table;
}

}  // namespace engine
