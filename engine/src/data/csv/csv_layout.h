#pragma once

#include <cstddef>
#include <vector>

#include "data/csv/csv_scan.h"
#include "data/input_guide.h"

namespace engine {

enum class CsvRole { feature, target, unused };

/// The use of each column of a table.
struct CsvLayout {
    std::vector<CsvRole> roles;
    std::vector<CsvColumnForm> forms;
    std::size_t target = 0;
    std::vector<Message> warnings;  ///< of what may surprise in how the columns are read
};

/// Resolves the options' column names, decides which columns are categorical, and applies
/// CsvMissing::refuse. A column whose values mostly are numbers of one form is numeric: what else
/// stands in it counts as missing. Throws Error(data) for unknown names, for columns in use that
/// hold numbers out of range or with a decimal comma, or hold nothing, and for missing values that
/// the options refuse.
CsvLayout plan_csv_columns(const CsvSource& source, const CsvScan& scan);

}  // namespace engine
