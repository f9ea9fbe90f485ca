#pragma once

#include "engine/runs/sweep.h"
#include "models/row_model.h"

namespace ui {

/// The points of a sweep, best first: mean and spread of the metric over the seeds. Tooltip: the
/// whole settings and the runs in the history.
class SweepModel final : public RowModel<engine::SweepRow> {
    Q_OBJECT
public:
    enum Column { Settings, Best, Last, Time, Seeds };

    explicit SweepModel(QObject* parent = nullptr);

    void setRows(std::int64_t seeds, std::vector<engine::SweepRow> rows);
    /// "test accuracy"; empty before the first evaluation.
    QString figure() const;

private:
    QVariant value(const engine::SweepRow& row, int column, int role) const override;
    /// Titles of the settings if all points have the same ones, which then stand in the head alone.
    static QStringList sharedTitles(const std::vector<engine::SweepRow>& rows);
    QString pointText(const engine::SweepRow& row) const;
    QString seedsText(const engine::SweepRow& row) const;

    std::int64_t seeds_ = 1;
    QStringList shared_;
};

}  // namespace ui
