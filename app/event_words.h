#pragma once

#include <string>

#include "engine/record/event.h"

namespace app {

// Parts of the lines that report a run's events in the terminal.

/// Four digits, also of what is no number.
std::string loss_text(double loss);


/// "step 7: overflow in the gradients, step skipped, scale 2¹⁶ → 2¹⁵: normal while calibrating"
std::string scale_change_text(const engine::ScaleChanged& event);

/// ", test accuracy 0.91, test ..."
std::string test_metrics(const engine::PartFigures& figures, const char* part);

/// "done (max_steps)"; "diverged at step 11"; "diverged at step 11 (max_steps)" of a run that went
/// on to its planned end.
std::string end_text(const engine::RunDone& done);

/// The start of a run of this program.
std::string own_start(const engine::RunStarted& event);

/// The start of a run that another program trains, with what that program says.
std::string foreign_start(const engine::RunStarted& event);

}  // namespace app
