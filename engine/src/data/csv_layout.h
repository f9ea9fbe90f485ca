#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/csv_scan.h"

namespace engine {

enum class CsvRole { feature, target, unused };

/// What each column of a table is used as.
struct CsvLayout {
    std::vector<CsvRole> roles;
    std::vector<bool> categorical;  ///< otherwise numeric
    std::size_t target = 0;
};

/// Resolves the options' column names, decides which columns are categorical, and applies
/// CsvMissing::refuse. Throws Error(data) for unknown names, for columns in use that mix numbers
/// with words, hold numbers out of range or with a decimal comma, or hold nothing, and for missing
/// values that the options refuse.
CsvLayout plan_csv_columns(const CsvSource& source, const CsvScan& scan);

}  // namespace engine
