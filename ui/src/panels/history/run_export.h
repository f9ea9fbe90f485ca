#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "engine/runs/run_store.h"

class QWidget;

namespace ui {

class Commands;

/// Asks for a format, a file and, if the format holds weights and the run has several checkpoints,
/// for one of them; then writes the run off the GUI thread. Problems and success are reported
/// through `commands`. Does nothing if the user cancels.
void exportRun(QWidget* parent, Commands* commands, const engine::RunSummary& run);

/// Asks for a file and writes several runs off the GUI thread: their steps as CSV, or the whole runs
/// in one file that can be imported.
void exportRuns(QWidget* parent, Commands* commands, const std::vector<engine::RunSummary>& runs);

/// Asks for a file and writes a report on these runs there, the oldest as the baseline.
void exportReport(QWidget* parent, Commands* commands,
                  const std::shared_ptr<engine::RunStore>& store,
                  const std::vector<engine::RunSummary>& runs);

/// Asks for a file that holds a whole run, imports it into the store off the GUI thread and calls
/// done(). Does nothing if the user cancels.
void importRun(QWidget* parent, Commands* commands, const std::shared_ptr<engine::RunStore>& store,
               std::function<void()> done);

/// Asks for a file and writes all steps of the runs to it, with a column that names the run.
/// Problems are reported through `commands`. Does nothing if the user cancels or `runs` is empty.
void exportCsv(QWidget* parent, Commands* commands, const std::vector<engine::RunSummary>& runs);

}  // namespace ui
