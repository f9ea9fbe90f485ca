#pragma once

#include "engine/instruments/xray.h"
#include "models/row_model.h"
#include "xray/op_filter.h"

namespace ui {

/// One step in two precisions, operation by operation in the order of the first: types, times and
/// outputs side by side. GUI thread.
class DifferenceTable final : public RowModel<engine::XrayPair> {
    Q_OBJECT
public:
    enum Column { name, firstTypes, secondTypes, firstTime, secondTime, change, output };

    explicit DifferenceTable(QObject* parent = nullptr);

    /// The traces must outlive this model, or be replaced before they go; null: nothing.
    void show(const engine::Xray* first, const engine::Xray* second);
    /// Rows of which either operation passes.
    void setFilter(const OpFilter& filter);
    engine::XrayPair pair(const QModelIndex& index) const;

private:
    QVariant value(const engine::XrayPair& pair, int column, int role) const override;
    void build();

    const engine::Xray* first_ = nullptr;
    const engine::Xray* second_ = nullptr;
    OpFilter filter_;
};

}  // namespace ui
