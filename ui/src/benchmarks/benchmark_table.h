#pragma once

#include <QString>
#include <vector>

#include "models/benchmark_book.h"

namespace ui {

/// A row per measurement, under the names that `halftone bench --json` uses. The reason is in the
/// window's language.
engine::Table benchmarkTable(const std::vector<BenchmarkResult>& results);
/// The measurements as a Markdown table with readable titles, in the window's language.
QString benchmarkMarkdown(const std::vector<BenchmarkResult>& results);

}  // namespace ui
