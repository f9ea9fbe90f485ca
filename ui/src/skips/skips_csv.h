#pragma once

#include <QString>

#include "engine/instruments/skip_report.h"

namespace ui {

/// The skipped and non-finite steps as CSV, a line a step, with the first non-finite tensor of
/// examined ones. Unknown fields are empty; non-finite numbers are "inf", "nan".
QString skipsCsv(const engine::SkipList& skips);

}  // namespace ui
