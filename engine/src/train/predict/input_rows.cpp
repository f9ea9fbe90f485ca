#include "train/predict/input_rows.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/clicks/criteo_reader.h"
#include "data/csv/csv_format.h"
#include "data/csv/csv_options.h"
#include "data/csv/csv_reader.h"
#include "data/csv/csv_scan.h"
#include "engine/base/error.h"
#include "engine/base/near_name.h"
#include "engine/base/plain_text.h"

namespace engine {
namespace {

constexpr std::size_t max_named = 8;

/// Reads cells as the run's own table was read.
class CellReader {
public:
    explicit CellReader(const DatasetConfig& config) {
        if (config.kind != csv_kind) return;  // other kinds have a usual value for each cell
        options_ = read_csv_options(config);
        missing_ = options_.missing;
    }

    /// Adds the cell to the row, or says why it cannot be.
    void take(const GuideColumn& column, std::string_view field, InputRow& row) const {
        const std::string text(trimmed(field));
        if (std::ranges::find(column.categories, text) != column.categories.end()) {
            row.cells[column.name] = text;
            return;
        }
        if (is_missing(column, text)) return take_missing(column, row);
        if (!column.categories.empty()) {
            row.problem =
                msg("column {}: {} was not in the training rows", column.name, shortened(text));
        } else if (column.id != GuideColumn::Id::none) {
            row.cells[column.name] = text;
        } else if (const auto number = number_in(column, text)) {
            row.cells[column.name] = shortest_text(*number);
        } else {
            row.problem = msg("column {}: {} is not a number", column.name, shortened(text));
        }
    }

    /// Whether a cell looks like one of this column and not like its name.
    bool is_number(const GuideColumn& column, std::string_view field) const {
        return column.categories.empty() && number_in(column, std::string(trimmed(field)));
    }

private:
    bool is_missing(const GuideColumn& column, const std::string& text) const {
        const auto& others = column.form.other_missing;
        return parse_csv_value(text, options_.words_for_missing()).content == CsvContent::missing ||
               std::ranges::find(others, text) != others.end();
    }
    std::optional<double> number_in(const GuideColumn& column, const std::string& text) const {
        const CsvValue value =
            column.form.read(parse_csv_value(text, options_.words_for_missing()), text);
        if (value.content != CsvContent::number) return std::nullopt;
        return value.number;
    }
    /// A number that is left out takes its usual value.
    void take_missing(const GuideColumn& column, InputRow& row) const {
        if (missing_ == CsvMissing::mean) {
            if (!column.usual_category.empty()) row.cells[column.name] = column.usual_category;
            return;
        }
        row.dropped = missing_ == CsvMissing::drop;
        row.problem =
            row.dropped
                ? msg("column {}: the value is missing; the row is left out, as in training",
                      column.name)
                : msg("column {}: the value is missing, and the run has no value for it "
                      "(dataset.missing is refuse)",
                      column.name);
    }

    CsvOptions options_{};
    CsvMissing missing_ = CsvMissing::mean;
};

class InputReader {
public:
    InputReader(std::string file, const InputGuide& guide, const DatasetConfig& config)
        : file_(std::move(file)), guide_(guide), cells_(config) {}

    void add(const CsvRow& row) {
        if (places_.empty() && begin(row.fields)) return;
        InputRow& out = table_.rows.emplace_back();
        out.line = row.line;
        const auto fields = fit_->fit(row.fields);
        if (!fields) {
            out.problem = msg("{} fields where the first row has {}", row.fields.size(), width_);
            return;
        }
        for (std::size_t i = 0; i < places_.size(); ++i) {
            cells_.take(guide_.columns[i], (*fields)[places_[i]], out);
            if (!out.problem.empty()) return;
        }
    }
    InputTable take() { return std::move(table_); }

private:
    /// Finds out where each column stands. True if the first row is a header.
    bool begin(std::span<const std::string_view> first) {
        width_ = first.size();
        fit_.emplace(width_, width_);
        std::vector<std::string> names;
        for (const auto field : first) names.emplace_back(trimmed(field));
        std::vector<std::string> absent;
        std::vector<std::size_t> places;
        for (const GuideColumn& column : guide_.columns) {
            const auto found = std::ranges::find(names, column.name);
            if (found == names.end())
                absent.push_back(column.name);
            else
                places.push_back(static_cast<std::size_t>(found - names.begin()));
        }
        if (absent.empty()) {
            refuse_doubled(names);
            places_ = std::move(places);
            return true;
        }
        const auto positions = by_position();
        const bool data = positions && is_data(first, *positions);
        // A table whose columns had no names in training may have some here.
        if (!data && (guide_.header || !positions || !places.empty())) refuse_absent(absent, names);
        table_.notes.push_back(
            data ? msg("{}: no header: its columns are taken by position", file_)
                 : msg("{}: its columns are taken by position, since the training table had no "
                       "header",
                       file_));
        places_ = *positions;
        return !data;
    }

    /// By the training table, with or without its target, or by the columns in use alone.
    std::optional<std::vector<std::size_t>> by_position() const {
        const bool whole = guide_.table_columns > 0 && width_ == guide_.table_columns;
        const bool no_target = guide_.table_columns > 0 && width_ + 1 == guide_.table_columns;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < guide_.columns.size(); ++i) {
            const auto& place = guide_.columns[i].place;
            if (place && (whole || no_target)) {
                places.push_back(*place - (no_target && *place > guide_.target_place ? 1 : 0));
            } else if (width_ == guide_.columns.size()) {
                places.push_back(i);
            } else {
                return std::nullopt;
            }
            if (places.back() >= width_) return std::nullopt;
        }
        return places;
    }

    /// No names: a number where a number belongs, or a readable cell everywhere.
    bool is_data(std::span<const std::string_view> first,
                 const std::vector<std::size_t>& places) const {
        InputRow tried;
        bool readable = true;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (cells_.is_number(guide_.columns[i], first[places[i]])) return true;
            tried.problem = {};
            cells_.take(guide_.columns[i], first[places[i]], tried);
            readable = readable && tried.problem.empty();
        }
        return readable;
    }

    void refuse_doubled(const std::vector<std::string>& names) const {
        for (const GuideColumn& column : guide_.columns) {
            if (std::ranges::count(names, column.name) < 2) continue;
            throw Error(ErrorCode::data,
                        msg("{}: two columns are named \"{}\"", file_, column.name),
                        msg("Rename or remove one of them."));
        }
    }

    [[noreturn]] void refuse_absent(const std::vector<std::string>& absent,
                                    const std::vector<std::string>& names) const {
        std::vector<std::string> shown;
        for (const auto& name : by_likeness(absent.front(), names))
            shown.push_back('"' + shortened(name) + '"');
        std::vector<std::string> quoted;
        for (const auto& name : absent) quoted.push_back('"' + shortened(name) + '"');
        throw Error(
            ErrorCode::data,
            absent.size() == guide_.columns.size()
                ? msg("{}: its first row names none of the model's columns: {}", file_,
                      listed(quoted, max_named))
                : msg("{}: columns of the model are missing: {}", file_, listed(quoted, max_named)),
            msg("The first row has: {}.", listed(shown, max_named)));
    }

    std::string file_;
    const InputGuide& guide_;
    CellReader cells_;
    InputTable table_;
    std::size_t width_ = 0;
    std::optional<CsvRowFit> fit_;
    std::vector<std::size_t> places_;  // of the guide's columns; empty until the first row
};

/// '\0' unless the run's settings name one.
char table_delimiter(const DatasetConfig& config) {
    return config.kind == csv_kind ? read_csv_options(config).delimiter : '\0';
}

double number_of_cell(const std::string& cell, const std::string& column) {
    const auto value = to_number<double>(cell);
    if (value && std::isfinite(*value)) return *value;
    throw Error(ErrorCode::value, msg("{}: {} is not a number", column, cell));
}

/// -1 if it is no whole number.
std::int64_t id_of_cell(const std::string& cell) {
    return to_number<std::int64_t>(cell).value_or(-1);
}

}  // namespace

InputTable read_input_rows(const std::filesystem::path& file, const InputGuide& guide,
                           const DatasetConfig& config) {
    const CsvStart start = find_csv_start(file, table_delimiter(config));
    InputReader reader(file.string(), guide, config);
    const auto take = [&](const CsvRow& row) {
        reader.add(row);
        return true;
    };
    const char delimiter = start.delimiter == '\0' ? ',' : start.delimiter;  // one column
    read_csv_rows(file, delimiter, {}, take, start.skipped_lines);
    InputTable table = reader.take();
    if (start.skipped_lines > 0) {
        table.notes.insert(table.notes.begin(), msg("{}: lines above the table are skipped: {}",
                                                    file.string(), start.skipped_lines));
    }
    return table;
}

void fill_features(std::vector<float>& features, const InputGuide& guide, const InputForm& form,
                   const std::map<std::string, std::string>& row) {
    for (const auto& [name, cell] : row) {
        const bool known = std::ranges::any_of(
            guide.columns,
            [&wanted = name](const GuideColumn& column) { return column.name == wanted; });
        if (!known) throw Error(ErrorCode::value, msg("{}: the model has no such column", name));
    }
    for (std::size_t i = 0; i < guide.columns.size(); ++i) {
        const GuideColumn& column = guide.columns[i];
        if (column.id != GuideColumn::Id::none) continue;
        if (column.offset + column.width() > features.size())
            throw Error(ErrorCode::data, msg("{}: the run's inputs.json is damaged", column.name));
        const auto cell = row.find(column.name);
        const bool given = cell != row.end() && !cell->second.empty();
        if (column.categories.empty()) {
            const double value =
                given ? number_of_cell(cell->second, column.name) : form.columns[i].usual;
            features[column.offset] =
                static_cast<float>(column.counted ? std::log1p(std::max(value, 0.0)) : value);
            continue;
        }
        if (!given) continue;  // none of the categories
        const auto word = std::ranges::find(column.categories, cell->second);
        if (word == column.categories.end()) {
            throw Error(ErrorCode::value,
                        msg("{}: {} was not in the training rows", column.name, cell->second));
        }
        features[column.offset + static_cast<std::size_t>(word - column.categories.begin())] = 1;
    }
}

void fill_ids(std::vector<std::int64_t>& ids, std::int64_t rows, const InputGuide& guide,
              const std::map<std::string, std::string>& row) {
    for (const GuideColumn& column : guide.columns) {
        if (column.id == GuideColumn::Id::none) continue;
        if (column.offset >= ids.size())
            throw Error(ErrorCode::data, msg("{}: the run's inputs.json is damaged", column.name));
        const auto cell = row.find(column.name);
        if (cell == row.end() || cell->second.empty()) continue;  // 0, as in the data
        const std::int64_t id = column.id == GuideColumn::Id::criteo ? criteo_id(cell->second, rows)
                                                                     : id_of_cell(cell->second);
        if (id < 0 || id >= rows) {
            throw Error(ErrorCode::value, msg("{}: {} is not an id of a table of {} rows",
                                              column.name, cell->second, rows));
        }
        ids[column.offset] = id;
    }
}

}  // namespace engine
