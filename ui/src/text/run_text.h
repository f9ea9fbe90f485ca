#pragma once

#include <QString>

#include "engine/runs/run_fields.h"

namespace engine {
struct Verdict;
}

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

/// "16 % slower, 38 % less memory."; empty where the verdict has no cost.
QString costText(const engine::Verdict& verdict);
/// The sentences of the evidence, in the window's language.
QString evidenceText(const engine::Verdict& verdict);

}  // namespace ui
