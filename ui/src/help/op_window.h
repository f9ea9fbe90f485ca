#pragma once

class QWidget;

namespace ui {

/// Opens the table of operations as a window of its own, with a field that searches it.
void showOperations(QWidget* parent);

}  // namespace ui
