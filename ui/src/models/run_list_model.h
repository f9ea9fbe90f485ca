#pragma once

#include <QAbstractListModel>
#include <set>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"

namespace ui {


/// The run history, newest first: two lines for each run, and whether it is shown on the plots.
class RunListModel final : public QAbstractListModel {
    Q_OBJECT
public:
    enum Role {
        NameRole = Qt::UserRole,  ///< number or title, and precision
        MetricRole,               ///< value of the primary metric in the last test
        MetricNameRole,           ///< "RMSE"
        StateRole,                ///< in words; empty for a run that ended as planned
        DetailRole,               ///< data set, model, skips, time
        PrecisionRole,            ///< preset
        BrokenRole,               ///< true: failed or diverged
        ShownRole                 ///< true: on the plots
    };
    explicit RunListModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

    void setRuns(std::vector<engine::RunSummary> runs);
    /// Updates the figures of the runs: selection and place stay.
    void setFigures(std::vector<engine::RunSummary> runs);
    /// The runs on the plots, by id.
    void setShown(std::set<std::string> runs);
    const engine::RunSummary& run(int row) const { return runs_.at(static_cast<std::size_t>(row)); }
    /// -1: not in the list.
    int rowOf(const std::string& run) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    /// A title, under Qt::EditRole: only asks for it with renameWanted().
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

signals:
    void renameWanted(const QString& run, const QString& title);

private:
    QString name(const engine::RunSummary& run) const;
    QString state(const engine::RunSummary& run) const;
    QString detail(const engine::RunSummary& run) const;
    QString everything(const engine::RunSummary& run) const;

    std::vector<engine::RunSummary> runs_;
    std::set<std::string> shown_;
};

}  // namespace ui
