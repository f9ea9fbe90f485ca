#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "data/csv/csv_table.h"
#include "data/dataset.h"

namespace engine {

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
    /// For a preview: all columns of the files, also those not in use.
    const std::vector<CsvColumn>& columns() const { return table_.columns; }
    /// For a preview: the first rows below the header of the first file, as text, long values
    /// shortened. At most 50.
    std::vector<std::vector<std::string>> first_rows(std::size_t count) const;

private:
    void read_features(std::size_t row, std::span<float> out) const;

    CsvTable table_;
    Schema schema_;
};

/// Reads the files of `config`, splits their rows by the seed and the shares, and measures the
/// training rows. Throws Error(data), and ReadingStopped.
DataParts open_csv(const DatasetConfig& config, std::int64_t seed, const std::stop_token& stop);

/// The schema while no file is known: 16 features, a target and a label of two classes.
Schema nominal_csv_schema();

}  // namespace engine
