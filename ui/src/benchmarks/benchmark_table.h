#pragma once

#include <QString>
#include <vector>

#include "models/benchmark_book.h"

namespace ui {

/// One line a measurement, with a head. The columns have the names that `halftone bench --json`
/// uses; the reason is in the window's language.
QString benchmarkCsv(const std::vector<BenchmarkResult>& results);
/// A table for people, in the window's language.
QString benchmarkMarkdown(const std::vector<BenchmarkResult>& results);

}  // namespace ui
