#pragma once

#include <QKeySequence>
#include <QList>
#include <QString>
#include <functional>

class QPushButton;
class QWidget;

namespace ui {

/// Gives a page keys that act wherever the focus is in its window, while the page is shown. `id`
/// and `title` are those of a command, see KeyBindings; ids of one page begin alike: "twin/resync".
void addPageKey(QWidget* page, const QString& id, const QString& title,
                const QList<QKeySequence>& keys, const std::function<void()>& act);
/// Adds a key for a button of the page: the key clicks it, and does nothing while it is disabled.
void addPageKey(QWidget* page, const QString& id, const QKeySequence& key, QPushButton* button);

/// The keys that start a comparison elsewhere start this page's own work while it is shown.
void takeRunKeys(QWidget* page, const std::function<void()>& act);

}  // namespace ui
