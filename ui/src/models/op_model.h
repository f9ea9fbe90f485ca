#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/settings/catalog.h"

namespace ui {

/// The engine's operations: what each does inside an autocast region, which gradients it has, and
/// why it is treated so. The same table as `halftone ops`.
class OpModel final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, Region, Gradients, Why, columns };

    explicit OpModel(QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    /// Tooltip of a name: the signature.
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<engine::OpSummary> ops_;
};

}  // namespace ui
