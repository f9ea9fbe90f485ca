#pragma once

#include "engine/runs/run_queue.h"
#include "models/row_model.h"

namespace ui {

/// The runs of the queue in their order: what each sets, who trains it, its state and its run in the
/// history. Tooltip: the settings that differ from the defaults, or why they are refused; of a job
/// why it is where it is.
class QueueModel final : public RowModel<engine::QueuedRun> {
    Q_OBJECT
public:
    enum Column { Settings, Where, State, Run };

    explicit QueueModel(QObject* parent = nullptr);

    void setRuns(std::vector<engine::QueuedRun> runs);
    /// -1: not in the queue.
    int rowOf(std::int64_t id) const;

private:
    QVariant value(const engine::QueuedRun& run, int column, int role) const override;
};

}  // namespace ui
