#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/csv/csv_table.h"
#include "data/schema.h"

namespace engine {

/// Rows of a table by part, each in ascending order.
struct CsvSplit {
    std::vector<std::int64_t> train, validation, test;
};

/// Draws round(test_share * rows) test rows, then round(validation_share * the others) validation
/// rows, by the seed: the same on every machine.
CsvSplit split_csv_rows(std::int64_t rows, double test_share, double validation_share,
                        std::int64_t seed);

/// Sets CsvFeature::usual to the mean of the training rows (numeric), or to their most frequent
/// category (the first in order among equals), and replaces missing cells in all rows by it. Throws
/// Error(data) naming `file` for a column without a value in the training rows.
void fill_missing_cells(CsvTable& table, std::span<const std::int64_t> train,
                        const std::string& file);

/// Mean and deviation (dividing by the number of rows) of each feature over the training rows, with
/// mean 0 and deviation 1 for one-hot features, and deviation 1 for a feature that never changes.
Normalization feature_statistics(const CsvTable& table, std::span<const std::int64_t> train);

/// Mean and deviation of the target's numbers.
Normalization target_statistics(const CsvTable& table, std::span<const std::int64_t> train);

/// Warns of feature columns and targets that never change in the training rows, and of classes
/// without a training row.
std::vector<Message> training_warnings(const CsvTable& table, std::span<const std::int64_t> train);

}  // namespace engine
