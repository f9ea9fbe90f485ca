#pragma once

#include <QList>

class QWidget;

namespace ui {

/// The widgets that the Tab key visits, in reading order: group after group, within a group line by
/// line. Only visible and enabled ones.
QList<QWidget*> readingOrder(const QList<QWidget*>& groups);

/// The widget that Tab (or Shift+Tab, `next` false) goes to from `current`; null if there is none.
QWidget* neighbour(const QList<QWidget*>& order, QWidget* current, bool next);

}  // namespace ui
