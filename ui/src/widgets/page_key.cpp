#include "widgets/page_key.h"

#include <QAction>
#include <QPushButton>
#include <QWidget>

namespace ui {

void addPageKey(QWidget* page, const QList<QKeySequence>& keys, const std::function<void()>& act) {
    auto* action = new QAction(page);
    action->setShortcuts(keys);
    action->setShortcutContext(Qt::WindowShortcut);
    page->addAction(action);
    QObject::connect(action, &QAction::triggered, page, act);
}

void addPageKey(QWidget* page, const QKeySequence& key, QPushButton* button) {
    addPageKey(page, {key}, [button] { button->click(); });
}

}  // namespace ui
