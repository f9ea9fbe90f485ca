#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/runs/run_fields.h"

namespace ui {

/// Settings and results of runs side by side, a column for each; a heading for each part. For one
/// run the settings that differ from the defaults, for several those that differ between them.
class DifferenceModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Role { PartRole = Qt::UserRole };  ///< true: the line above a part

    explicit DifferenceModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    void setRuns(std::vector<engine::RunSummary> runs);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Line {
        QString name;
        QString tip;
        QStringList values;
        bool part = false;
    };
    void addPart(const QString& title);
    void addSettings();
    void addResults();

    std::vector<engine::RunSummary> runs_;
    std::vector<Line> lines_;
};

}  // namespace ui
