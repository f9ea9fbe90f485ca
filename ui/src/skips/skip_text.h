#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "engine/instruments/skip_report.h"

namespace ui {

/// Why a step was skipped, in a few words.
QString causeTitle(const engine::SkippedStep& step);
/// Where an examined step broke: "conv1, 2 inf"; empty where that is not known.
QString tensorText(const engine::SkippedStep& step);
/// The result of computing a step again with a change.
QString trialText(const engine::StepTrial& trial);
/// "[3, 0, 7]"
QString indexText(const std::vector<std::int64_t>& index);
/// "3 × 224 × 224"
QString shapeText(const std::vector<std::int64_t>& shape);

}  // namespace ui
