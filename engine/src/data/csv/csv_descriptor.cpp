#include "data/csv/csv_dataset.h"
#include "data/csv/csv_format.h"
#include "data/csv/csv_options.h"
#include "data/dataset_descriptor.h"
#include "engine/data/dataset_preview.h"

namespace engine {

namespace {

ColumnPreview preview_of(const CsvColumn& from) {
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

}  // namespace

void CsvDataset::describe(DatasetPreview& preview) const {
    for (const CsvColumn& column : columns()) preview.columns.push_back(preview_of(column));
}

DatasetDescriptor csv_descriptor() {
    const auto options = csv_option_specs();
    return {
        .kind = "csv",
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
