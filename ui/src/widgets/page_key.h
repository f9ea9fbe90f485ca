#pragma once

#include <QKeySequence>
#include <QList>
#include <functional>

class QPushButton;
class QWidget;

namespace ui {

/// Gives a page keys that act wherever the focus is in its window, while the page is shown.
void addPageKey(QWidget* page, const QList<QKeySequence>& keys, const std::function<void()>& act);
/// The same for a button of the page: the key clicks it, and does nothing while it is disabled.
void addPageKey(QWidget* page, const QKeySequence& key, QPushButton* button);

}  // namespace ui
