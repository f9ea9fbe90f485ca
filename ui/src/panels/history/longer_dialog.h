#pragma once

#include <QButtonGroup>
#include <QDialog>
#include <QSpinBox>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "engine/session/session.h"

namespace ui {

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

}  // namespace ui
