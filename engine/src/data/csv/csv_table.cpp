#include "data/csv/csv_table.h"

#include <utility>

#include "data/csv/csv_layout.h"
#include "data/csv/csv_loader.h"
#include "engine/base/error.h"

namespace engine {
namespace {

/// Refuses what would not fit before any of it is allocated.
void check_memory(const CsvSource& source, const CsvScan& scan, const CsvLayout& layout) {
    std::int64_t features = 0;
    for (const auto role : layout.roles) features += role == CsvRole::feature ? 1 : 0;
    // The target as number and label, and the row's place in its part and in the split.
    const std::int64_t row_bytes = features * 4 + 8 + 16;
    if (scan.rows <= source.most_bytes / row_bytes) return;
    throw Error(ErrorCode::data,
                msg("{}: {} rows of {} features take more than the {} MiB that a data set may use",
                    source.files.front().string(), scan.rows, features, source.most_bytes >> 20),
                msg("Use fewer columns (dataset.without), or part of the file."));
}

}  // namespace

CsvTable read_csv_table(const CsvSource& source) {
    CsvScan scan = scan_csv(source);
    const CsvLayout layout = plan_csv_columns(source, scan);
    check_memory(source, scan, layout);
    CsvTable table = load_csv_columns(source, scan, layout);
    table.first_rows = std::move(scan.first_rows);
    return table;
}

}  // namespace engine
