#pragma once

#include <QString>

#include "engine/instruments/speedup.h"

namespace ui {

/// A readable name of what is measured: "ResNet-18 · Glyphs · batch 16".
QString speedupTitle(const engine::RunConfig& settings);
/// speedupTitle() without the data: "ResNet-18, batch 16".
QString speedupShortTitle(const engine::RunConfig& settings);

/// Whether the precision pays, and why or why not, with the precision's title.
QString speedupSentence(const engine::Speedup& row);
/// The figures behind a measurement's sentence, as HTML: the parts of both steps, memory, largest
/// batches, and the speed of a large product.
QString speedupFigures(const engine::Speedup& row);

/// A largest batch: "909,585", "none", or "≥ 1,048,576" where the search ended.
QString batchText(std::int64_t batch);
/// "1.24×"
QString timesText(double ratio);

}  // namespace ui
