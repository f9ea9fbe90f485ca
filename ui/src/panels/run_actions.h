#pragma once

#include <QString>
#include <QWidget>
#include <functional>

#include "engine/run_store.h"

namespace ui {

class Commands;

/// Why a run of the history cannot be resumed, in a sentence; empty if it can.
QString whyNotResumed(const engine::RunSummary& run);
/// Resumes a run. One that has made all of its steps goes on as a new one: a dialog asks for how
/// many epochs, and how the learning rate goes on.
void resumeOrAsk(QWidget* parent, Commands* commands, const engine::RunSummary& run,
                 std::function<void(bool begun)> then = {});
/// Why its settings cannot be those of a new run; empty if they can.
QString whyNotRepeated(const engine::RunSummary& run);

}  // namespace ui
