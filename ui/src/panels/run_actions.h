#pragma once

#include <QString>

#include "engine/run_store.h"

namespace ui {

/// Why a run of the history cannot be resumed, in a sentence; empty if it can.
QString whyNotResumed(const engine::RunSummary& run);
/// Why its settings cannot be those of a new run; empty if they can.
QString whyNotRepeated(const engine::RunSummary& run);

}  // namespace ui
