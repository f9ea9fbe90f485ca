#pragma once

#include <vector>

#include "engine/runs/run_store.h"

class QWidget;

namespace ui {

class Commands;

/// Asks for a file and writes all steps of the runs to it, with a column that names the run.
/// Problems are reported through `commands`. Does nothing if the user cancels or `runs` is empty.
void exportCsv(QWidget* parent, Commands* commands, const std::vector<engine::RunSummary>& runs);

}  // namespace ui
