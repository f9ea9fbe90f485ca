#pragma once

#include <QString>
#include <vector>

#include "models/benchmark_book.h"

namespace ui {

/// One line per measurement, and a header with the names that `halftone bench --json` uses. The
/// reason is in the window's language.
QString benchmarkCsv(const std::vector<BenchmarkResult>& results);
/// The measurements as a Markdown table with readable titles, in the window's language.
QString benchmarkMarkdown(const std::vector<BenchmarkResult>& results);

}  // namespace ui
