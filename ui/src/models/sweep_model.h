#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/runs/sweep.h"

namespace ui {

/// The points of a sweep, best first: mean and spread of the metric over the seeds.
class SweepModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Settings, Best, Last, Time, Seeds, columns };

    explicit SweepModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRows(std::int64_t seeds, std::vector<engine::SweepRow> rows);
    const std::vector<engine::SweepRow>& rows() const { return rows_; }
    /// "test accuracy"; empty before the first evaluation.
    QString figure() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    /// Tooltip: the whole settings and the runs in the history.
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString spread(const engine::SweepRow& row, const engine::MeanSpread& value) const;

    /// Titles of the settings if all points have the same ones, which then stand in the head alone.
    QStringList sharedTitles() const;
    QString pointText(const engine::SweepRow& row) const;

    std::int64_t seeds_ = 1;
    QStringList shared_;
    std::vector<engine::SweepRow> rows_;
};

}  // namespace ui
