#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/runs/run_queue.h"

namespace ui {

/// The runs of the queue in their order: what each sets, its state and its run in the history.
class QueueModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Settings, State, Run, columns };

    explicit QueueModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRuns(std::vector<engine::QueuedRun> runs);
    const engine::QueuedRun& run(int row) const { return runs_.at(static_cast<std::size_t>(row)); }
    /// -1: not in the queue.
    int rowOf(std::int64_t id) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    /// Tooltip: the settings that differ from the defaults, or why they are refused.
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<engine::QueuedRun> runs_;
};

}  // namespace ui
