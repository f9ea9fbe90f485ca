#pragma once

#include <QString>

#include "engine/skip_report.h"

namespace ui {

/// The skipped and non-finite steps as CSV, a line a step, with the first non-finite tensor of
/// those that were examined. Fields that are not known are empty; non-finite numbers are "inf",
/// "nan".
QString skipsCsv(const engine::SkipList& skips);

}  // namespace ui
