#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "data/csv/csv_format.h"
#include "data/csv/csv_options.h"
#include "data/csv/csv_statistics.h"
#include "data/csv/csv_table.h"
#include "data/csv/csv_text.h"
#include "data/data_files.h"
#include "data/dataset.h"
#include "data/dataset_descriptor.h"
#include "data/input_guide.h"
#include "engine/base/error.h"
#include "engine/data/dataset_preview.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// The rows of a table, in memory. Fields:
/// - `features`: f32 (F), unnormalised; a categorical column is one-hot, its categories in order.
/// - `target`: f32 (1), unnormalised, of a numeric target.
/// - `label`: i64 (), of a categorical target, and of a numeric one that holds at most 1,000
///   different values, all of them whole.
/// Statistics for normalising are of the training rows.
class CsvDataset final : public Dataset {
public:
    /// `table` has no missing cells.
    CsvDataset(CsvTable table, Schema schema);

    std::int64_t size() const override { return table_.rows; }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;

    void describe(DatasetPreview& preview) const override;
    void guide(InputGuide& guide) const override;

private:
    void read_features(std::size_t row, std::span<float> out) const;

    CsvTable table_;
    Schema schema_;
};

constexpr std::size_t name_characters = 80;

std::vector<std::string> feature_names(const CsvTable& table) {
    std::vector<std::string> names;
    for (const auto& feature : table.features) {
        const std::string name = shortened(feature.name, name_characters);
        if (!feature.categorical()) names.push_back(name);
        for (const auto& category : feature.categories)
            names.push_back(name + '=' + shortened(category, name_characters));
    }
    return names;
}

FieldSpec features_field(std::int64_t width) {
    return {.name = "features", .kind = FieldKind::features, .dtype = DType::f32, .shape = {width}};
}

FieldSpec target_field() {
    return {.name = "target", .kind = FieldKind::value, .dtype = DType::f32, .shape = {1}};
}

FieldSpec label_field(std::int64_t classes) {
    return {.name = "label", .kind = FieldKind::label, .dtype = DType::i64, .cardinality = classes};
}

Schema make_schema(const CsvTable& table, std::span<const std::int64_t> train, bool standardize) {
    Schema schema;
    FieldSpec features = features_field(static_cast<std::int64_t>(table.width));
    features.names = feature_names(table);
    if (standardize) features.normalization = feature_statistics(table, train);
    schema.add(std::move(features));
    if (!table.target_values.empty()) {
        FieldSpec target = target_field();
        target.names = {shortened(table.target, name_characters)};
        target.normalization = target_statistics(table, train);
        schema.add(std::move(target));
    }
    if (table.classes.empty()) return schema;
    FieldSpec label = label_field(static_cast<std::int64_t>(table.classes.size()));
    for (const auto& name : table.classes) label.names.push_back(shortened(name, name_characters));
    schema.add(std::move(label));
    return schema;
}

std::vector<fs::path> table_files(const DatasetConfig& config) {
    if (config.path.empty()) {
        throw Error(ErrorCode::data, msg("{}: no path is given", "CSV"),
                    msg("Set dataset.path to a CSV file."));
    }
    for (const auto& path : config.path) {
        std::error_code ignored;
        if (!fs::is_directory(path, ignored)) continue;
        throw Error(ErrorCode::data, msg("{}: a folder, not a CSV file", path),
                    msg("Set dataset.path to a CSV file."));
    }
    return {config.path.begin(), config.path.end()};
}

void limit(std::vector<std::int64_t>& rows, std::int64_t most) {
    if (most > 0) rows.resize(std::min(rows.size(), static_cast<std::size_t>(most)));
}

CsvSplit split(const CsvTable& table, const DatasetConfig& config, const CsvOptions& options,
               std::int64_t seed) {
    CsvSplit split = split_csv_rows(table.rows, options.test_share, config.validation_share, seed);
    if (split.train.empty()) {
        throw Error(
            ErrorCode::data,
            msg("{}: of {} rows, {} are test and {} validation rows: none is left to train "
                "on",
                config.path.front(), table.rows, split.test.size(), split.validation.size()),
            msg("Lower dataset.test_share or dataset.validation_share."));
    }
    limit(split.train, config.train_limit);
    limit(split.test, config.test_limit);
    return split;
}

std::shared_ptr<const std::vector<std::int64_t>> shared(std::vector<std::int64_t> rows) {
    return std::make_shared<const std::vector<std::int64_t>>(std::move(rows));
}

ColumnPreview make_preview(const CsvColumn& from) {
    ColumnPreview column;
    column.name = from.name;
    column.role = from.role == CsvRole::target    ? ColumnPreview::Role::target
                  : from.role == CsvRole::feature ? ColumnPreview::Role::feature
                                                  : ColumnPreview::Role::unused;
    column.numeric = !from.categorical;
    column.missing = from.missing;
    column.lowest = from.lowest;
    column.mean = from.mean;
    column.highest = from.highest;
    column.histogram = from.histogram;
    column.different = from.different;
    for (const CsvColumn::Category& category : from.categories) {
        column.words.push_back({category.word, category.count});
        column.histogram.push_back(category.count);
    }
    return column;
}

CsvDataset::CsvDataset(CsvTable table, Schema schema)
    : table_(std::move(table)), schema_(std::move(schema)) {}

void CsvDataset::read(std::int64_t index, const SampleFields& out) const {
    const auto row = static_cast<std::size_t>(index);
    std::size_t field = 0;
    // A field whose span is empty is not wanted.
    if (const auto features = out.f32(field++); !features.empty()) read_features(row, features);
    if (!table_.target_values.empty()) {
        if (const auto target = out.f32(field++); !target.empty())
            target[0] = table_.target_values[row];
    }
    if (table_.labels.empty()) return;
    if (const auto label = out.i64(field); !label.empty()) label[0] = table_.labels[row];
}

void CsvDataset::guide(InputGuide& guide) const {
    for (const CsvFeature& feature : table_.features) {
        GuideColumn column{feature.name, feature.categories, feature.offset};
        column.place = feature.place;
        column.form = feature.form;
        if (feature.categorical())
            column.usual_category = feature.categories[static_cast<std::size_t>(feature.usual)];
        else
            column.usual_number = static_cast<double>(feature.usual);
        guide.columns.push_back(std::move(column));
    }
    guide.table_columns = table_.columns.size();
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
        if (table_.columns[i].role == CsvRole::target) guide.target_place = i;
    }
    guide.header = table_.has_header;
}

void CsvDataset::read_features(std::size_t row, std::span<float> out) const {
    std::fill(out.begin(), out.end(), 0.0F);
    const float* cell = table_.cells.data() + row * table_.features.size();
    for (const auto& feature : table_.features) {
        const float value = *cell++;
        if (feature.categorical()) {
            out[feature.offset + static_cast<std::size_t>(value)] = 1;
        } else {
            out[feature.offset] = value;
        }
    }
}

/// Reads the files of `config`, splits their rows by the seed and the shares, and measures the
/// training rows. Throws Error(data), and ReadingStopped.
DataParts open_csv(const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop) {
    const CsvOptions options = read_csv_options(config);
    CsvTable table = read_csv_table({table_files(config), options, largest_dataset_bytes(), stop});
    CsvSplit rows = split(table, config, options, seed);
    fill_missing_cells(table, rows.train, config.path.front());

    DataParts parts;
    parts.warnings = std::move(table.warnings);
    for (auto& warning : training_warnings(table, rows.train))
        parts.warnings.push_back(std::move(warning));
    if (rows.test.empty() && options.test_share > 0)
        parts.warnings.push_back(msg("{}: too short for a test part", config.path.front()));
    Schema schema = make_schema(table, rows.train, options.standardize);
    const auto data = std::make_shared<const CsvDataset>(std::move(table), std::move(schema));
    parts.train = {data, shared(std::move(rows.train))};
    if (config.validation_share > 0) parts.validation = {data, shared(std::move(rows.validation))};
    parts.test = {data, shared(std::move(rows.test))};
    return parts;
}

/// The schema while no file is known: 16 features, a target and a label of two classes.
Schema nominal_csv_schema() {
    Schema schema;
    schema.add(features_field(16));
    schema.add(target_field());
    schema.add(label_field(2));
    return schema;
}

void CsvDataset::describe(DatasetPreview& preview) const {
    for (const CsvColumn& column : table_.columns) preview.columns.push_back(make_preview(column));
}

}  // namespace

DatasetDescriptor csv_descriptor() {
    const auto options = csv_option_specs();
    return {
        .kind = csv_kind,
        .title = "Table (CSV)",
        .summary = "Rows of a table: predicts one column from the others.",
        .needs = "A CSV file, plain, .gz, .xz or .zip; several with the same columns as a list.",
        .unit = "rows",
        .options = {options.begin(), options.end()},
        .schema = [](const DatasetConfig&) { return nominal_csv_schema(); },
        .files_decide = true,
        .open = open_csv,
        .recognise = looks_like_csv};
}

}  // namespace engine
