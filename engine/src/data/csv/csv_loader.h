#pragma once

#include "data/csv/csv_layout.h"
#include "data/csv/csv_scan.h"
#include "data/csv/csv_table.h"

namespace engine {

/// The second pass over the files: stores the columns in use, without the rows that
/// CsvOptions::missing leaves out. Throws Error(data) for too many categories, classes or features,
/// for no rows left, and for files that changed since `scan`.
CsvTable load_csv_columns(const CsvSource& source, const CsvScan& scan, const CsvLayout& layout);

}  // namespace engine
