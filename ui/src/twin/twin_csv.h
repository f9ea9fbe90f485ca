#pragma once

#include <QString>
#include <span>

#include "engine/twin.h"

namespace ui {

/// One step of a twin.
struct TwinStep {
    std::int64_t step = 0;  ///< from 1
    bool skipped = false;
    std::span<const float> errors, angles;  ///< by layer; NaN: not finite
};

/// The layers of a step as CSV: their errors and angles in it, and what the whole twin has shown of
/// each. Fields that have no value are empty.
QString twinCsv(const engine::TwinDigest& digest, const TwinStep& step);

}  // namespace ui
