#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/csv/csv_layout.h"
#include "data/csv/csv_preview.h"
#include "data/csv/csv_scan.h"
#include "engine/base/message.h"

namespace engine {

constexpr std::size_t max_csv_categories = 1000;  ///< of a feature column, and of the target
constexpr std::size_t max_csv_features = 100000;  ///< after one-hot encoding

/// A feature column of a table.
struct CsvFeature {
    std::string name;
    std::vector<std::string> categories{};  ///< sorted; empty: numeric
    std::size_t offset = 0;                 ///< of its first feature, after one-hot encoding
    CsvColumnForm form{};
    std::size_t place = 0;  ///< among the columns of the file
    float usual = 0;        ///< the training mean, or the index of the most frequent category

    bool categorical() const { return !categories.empty(); }
    std::size_t width() const { return categorical() ? categories.size() : 1; }
};

/// The rows of a table that are in use, in the order of the files.
struct CsvTable {
    std::int64_t rows = 0;
    std::vector<CsvFeature> features;
    std::size_t width = 0;  ///< features after one-hot encoding
    /// (rows, features): a number, or the index of a category; NaN where it is missing. f32 holds
    /// every index exactly.
    std::vector<float> cells;
    std::string target;                ///< name of the column
    std::vector<float> target_values;  ///< empty: a categorical target
    std::vector<std::string> classes;  ///< empty: the target is no class
    std::vector<std::int32_t> labels;  ///< by row, if there are classes

    std::vector<CsvColumn> columns;  ///< of the files
    bool has_header = false;
    std::vector<std::vector<std::string>> first_rows;
    std::vector<Message> warnings;
};

/// Reads the files twice: to learn the columns' types, then to store the columns in use as f32.
/// Throws Error(data), and ReadingStopped.
CsvTable read_csv_table(const CsvSource& source);

}  // namespace engine
