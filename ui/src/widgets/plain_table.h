#pragma once

#include <QTableView>

namespace ui {

/// A table to read: whole rows are chosen, no cell is edited, Tab leads out of it.
QTableView* makePlainTable(const QString& name, QAbstractItemModel* model, QWidget* parent);

}  // namespace ui
