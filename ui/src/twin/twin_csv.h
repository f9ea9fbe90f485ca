#pragma once

#include <QString>
#include <span>

#include "engine/record/twin.h"

namespace ui {

/// One step of a twin.
struct TwinStep {
    std::int64_t step = 0;  ///< from 1
    bool skipped = false;
    std::span<const float> errors, angles;  ///< by layer; NaN: not finite
};

/// The layers of a step as CSV: their errors and angles in it, and the figures of the whole twin
/// for each. Fields without a value are empty.
QString twinCsv(const engine::TwinDigest& digest, const TwinStep& step);

}  // namespace ui
