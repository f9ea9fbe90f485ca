#pragma once

#include <QButtonGroup>
#include <QDialog>
#include <QSpinBox>
#include <QString>
#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "engine/runs/outside_request.h"
#include "engine/runs/run_store.h"
#include "engine/session/session.h"

namespace ui {

class Commands;
struct Context;

/// Asks for how many epochs a finished run is to be trained, and how its learning rate goes on
/// where the schedule has fallen to its end.
class LongerDialog final : public QDialog {
    Q_OBJECT
public:
    LongerDialog(const engine::RunSummary& run, QWidget* parent);

    /// The changes for engine::plan_resume().
    std::vector<std::string> changes() const;
    engine::LongerSchedule schedule() const;

private:
    QLayout* makeSchedules();

    const engine::RunConfig config_;
    QSpinBox* epochs_;
    QButtonGroup* schedules_;
};

/// Why a run of the history cannot be resumed, in a sentence; empty if it can.
QString whyNotResumed(const engine::RunSummary& run);
/// Why several runs cannot be resumed: they can be resumed together if they are all runs of one
/// comparison or sweep, of which one has not ended.
QString whyNotResumed(const std::vector<engine::RunSummary>& runs);
/// All runs of the comparison that the run belongs to, oldest first; of another run itself alone.
/// `history`: newest first.
std::vector<engine::RunSummary> withItsComparison(const engine::RunSummary& run,
                                                  const std::vector<engine::RunSummary>& history);
/// "run 3", "comparison 2", to follow a verb; "3 runs" where they are neither.
QString nameOfRuns(const std::vector<engine::RunSummary>& runs,
                   const std::vector<engine::RunSummary>& history);
/// Resumes all runs of the comparison that these belong to; of a sweep, the queue goes on with it.
void resumeTogether(const Context& context, const std::vector<engine::RunSummary>& runs,
                    std::function<void(bool begun)> then = {});
/// Resumes a run. One that has made all of its steps goes on as a new one: a dialog asks for how
/// many epochs, and how the learning rate goes on.
void resumeOrAsk(QWidget* parent, Commands* commands, const engine::RunSummary& run,
                 std::function<void(bool begun)> then = {});
/// Asks the process that trains a run, here or on another machine, to stop it, to pause it or to let
/// it go on. Does not wait; the message bar shows the answer.
void sendRequest(Commands* commands, const engine::RunSummary& run, engine::OutsideRequest request);
/// Why its settings cannot be those of a new run; empty if they can.
QString whyNotRepeated(const engine::RunSummary& run);

}  // namespace ui
