#pragma once

#include <QString>
#include <string>

#include "engine/runs/run_fields.h"

namespace ui {

/// "running", "diverged at step 23", "done".
QString stateText(const engine::RunSummary& run);
/// "Learning rate", "Test accuracy": the head of a field's column.
QString fieldLabel(const engine::RunField& field);
/// The value of a field as the window writes it; "–" if it is unknown.
QString fieldText(const engine::RunSummary& run, const engine::RunField& field);
/// "Spirals", "LeNet": titles of what a run trains on and trains. What another program trains has
/// the names that it gave.
QString datasetTitle(const engine::RunSummary& run);
QString modelTitle(const engine::RunSummary& run);
/// Figures stand on the right.
bool isFigure(const engine::RunField& field);

}  // namespace ui
