#include "widgets/page_key.h"

#include <QAction>
#include <QEvent>
#include <QPushButton>
#include <QWidget>
#include <algorithm>

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

namespace {

constexpr auto runId = QLatin1StringView("run/compare");

/// Withholds the keys from the comparison while the page is shown.
class RunKeys final : public QObject {
public:
    RunKeys(QWidget* page, QAction* action) : QObject(page), action_(action) {
        page->installEventFilter(this);
        connect(KeyBindings::instance(), &KeyBindings::changed, this, &RunKeys::follow);
        follow();
    }
    ~RunKeys() override {
        disconnect(KeyBindings::instance(), nullptr, this, nullptr);
        KeyBindings::instance()->withhold(runId, this, false);
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        const bool shown = event->type() == QEvent::Show;
        if (shown || event->type() == QEvent::Hide)
            KeyBindings::instance()->withhold(runId, this, shown);
        return QObject::eventFilter(watched, event);
    }

private:
    void follow() {
        const auto commands = KeyBindings::instance()->commands();
        const auto found = std::ranges::find(commands, QString(runId), &KeyBindings::Command::id);
        action_->setShortcuts(found != commands.end()
                                  ? found->now()
                                  : QList<QKeySequence>{Qt::CTRL | Qt::Key_Return,
                                                        Qt::CTRL | Qt::Key_Enter});
    }

    QAction* action_;
};

}  // namespace

void takeRunKeys(QWidget* page, const std::function<void()>& act) {
    auto* action = new QAction(page);
    action->setShortcutContext(Qt::WindowShortcut);
    page->addAction(action);
    QObject::connect(action, &QAction::triggered, page, act);
    new RunKeys(page, action);
}

}  // namespace ui
