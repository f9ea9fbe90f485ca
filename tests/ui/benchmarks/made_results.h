#pragma once

#include "models/benchmark_book.h"

namespace ui {

/// A measurement of one of the engine's models, whose products are twice as fast in 16 bits and
/// whose casts take `casts` ms.
inline BenchmarkResult madeResult(std::size_t model, const std::string& precision,
                                  double casts = 0) {
    BenchmarkResult result;
    result.settings = newBenchmarkBook().entries.at(model).settings;
    engine::Speedup& row = result.row;
    row.model = result.settings.model.kind;
    row.precision = precision;
    row.batch_size = result.settings.batch_size;
    row.fp32 = {.products = 8, .memory = 2};
    row.amp = {.products = 4, .memory = 2, .casts = casts, .cast_bytes = 1'000'000};
    row.fp32_ms = row.fp32.total();
    row.amp_ms = row.amp.total();
    row.speed_up = row.fp32_ms / row.amp_ms;
    row.least = 0.99 * row.speed_up;
    row.most = 1.01 * row.speed_up;
    row.fp32_bytes = 60'000'000;
    row.amp_bytes = 40'000'000;
    row.batch_memory = 1'000'000'000;
    row.fp32_largest_batch = 100;
    row.largest_batch = 150;
    row.peaks = {{"f16", 2e11}, {"f32", 1e11}};
    engine::explain(row);
    result.machine = QStringLiteral("A processor");
    result.when = QDateTime(QDate(2026, 11, 25), QTime(12, 30));
    return result;
}

}  // namespace ui
