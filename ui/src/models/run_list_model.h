#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/run_store.h"

namespace ui {

class Theme;

/// The run history: newest first, each with its result and state.
class RunListModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { NameColumn, AccuracyColumn, StateColumn, columns };
    explicit RunListModel(const Theme* theme, QObject* parent = nullptr)
        : QAbstractTableModel(parent), theme_(theme) {}

    void setRuns(std::vector<engine::RunSummary> runs);
    const engine::RunSummary& run(int row) const { return runs_.at(static_cast<std::size_t>(row)); }
    /// -1: not in the list.
    int rowOf(const std::string& run) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    QString text(const engine::RunSummary& run, int column) const;
    QIcon dot(const engine::RunSummary& run) const;
    QString detail(const engine::RunSummary& run) const;

    const Theme* theme_;
    std::vector<engine::RunSummary> runs_;
};

}  // namespace ui
