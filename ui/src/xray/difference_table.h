#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "engine/instruments/xray.h"
#include "xray/op_filter.h"

namespace ui {

/// One step in two precisions, operation by operation in the order of the first: types, times and
/// outputs side by side. GUI thread.
class DifferenceTable final : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { name, firstTypes, secondTypes, firstTime, secondTime, change, output, columns };

    using QAbstractTableModel::QAbstractTableModel;

    /// The traces must outlive this model, or be replaced before they go; null: nothing.
    void show(const engine::Xray* first, const engine::Xray* second);
    /// Rows of which either operation passes.
    void setFilter(const OpFilter& filter);
    engine::XrayPair pair(const QModelIndex& index) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void build();
    static QString text(const engine::XrayPair& pair, int column);

    const engine::Xray* first_ = nullptr;
    const engine::Xray* second_ = nullptr;
    OpFilter filter_;
    std::vector<engine::XrayPair> rows_;
};

}  // namespace ui
