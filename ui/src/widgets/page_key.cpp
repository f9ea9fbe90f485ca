#include "widgets/page_key.h"

#include <QAction>
#include <QPushButton>
#include <QWidget>

#include "widgets/key_bindings.h"

namespace ui {

void addPageKey(QWidget* page, const QString& id, const QString& title,
                const QList<QKeySequence>& keys, const std::function<void()>& act) {
    auto* action = new QAction(title, page);
    KeyBindings::instance()->bind(action, id, keys);
    action->setShortcutContext(Qt::WindowShortcut);
    page->addAction(action);
    QObject::connect(action, &QAction::triggered, page, act);
}

void addPageKey(QWidget* page, const QString& id, const QKeySequence& key, QPushButton* button) {
    addPageKey(page, id, button->text(), {key}, [button] { button->click(); });
}

}  // namespace ui
