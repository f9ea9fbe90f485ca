#pragma once

#include <QString>

#include "engine/record/histogram_record.h"

namespace ui {

/// One line for each layer of this kind, below a header: how many values lie in each bin. A bin's
/// column is named after its exponent.
QString microscopeCsv(const engine::HistogramSample& sample, engine::HistogramKind kind);

}  // namespace ui
