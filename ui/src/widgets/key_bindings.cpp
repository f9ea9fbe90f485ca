#include "widgets/key_bindings.h"

#include <QEvent>
#include <QPushButton>
#include <QSettings>
#include <QWidget>
#include <algorithm>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

const QString keyGroup = u"keys"_s;

QString settingOf(const QString& id) { return keyGroup + u'/' + id; }

/// The place of a command: a page, or a menu, whose keys hold on every page.
bool isOfPage(const QString& place) {
    static const QStringList menus{u"file"_s, u"edit"_s, u"run"_s,
                                   u"view"_s, u"help"_s, u"page"_s};
    return !menus.contains(place);
}

/// Whether the keys of both can be pressed in one place.
bool meet(const QString& one, const QString& other) {
    const QString a = one.section(u'/', 0, 0), b = other.section(u'/', 0, 0);
    return a == b || !isOfPage(a) || !isOfPage(b);
}

QString bareTitle(QString title) { return title.remove(u'&').remove(u'…'); }

}  // namespace

KeyBindings* KeyBindings::instance() {
    static KeyBindings bindings;
    return &bindings;
}

QList<QKeySequence> KeyBindings::Command::now() const { return keys(id, usual); }

void KeyBindings::declare(const QString& id, const QString& title, QList<QKeySequence> usual) {
    const auto known = std::ranges::find(declared_, id, &Command::id);
    if (known == declared_.end())
        declared_.push_back({id, bareTitle(title), std::move(usual), nullptr});
    else
        known->title = bareTitle(title);
}

void KeyBindings::bind(QAction* action, const QString& id, QList<QKeySequence> usual) {
    usual.removeAll(QKeySequence());
    std::erase_if(commands_, [](const Command& each) { return each.action.isNull(); });
    const auto declared = std::ranges::find(declared_, id, &Command::id);
    const QString title =
        declared == declared_.end() ? bareTitle(action->text()) : declared->title;
    action->setShortcuts(isWithheld(id) ? QList<QKeySequence>() : keys(id, usual));
    commands_.push_back({id, title, usual, action});
}

void KeyBindings::withhold(const QString& id, QObject* by, bool withheld) {
    std::erase_if(withheld_, [&](const auto& each) {
        return each.second.isNull() || (each.first == id && each.second == by);
    });
    if (withheld) withheld_.emplace_back(id, by);
    apply();
}

bool KeyBindings::isWithheld(const QString& id) const {
    return std::ranges::any_of(withheld_, [&](const auto& each) {
        return each.first == id && !each.second.isNull();
    });
}

QList<QKeySequence> KeyBindings::keys(const QString& id, const QList<QKeySequence>& usual) {
    const QSettings settings;
    if (!settings.contains(settingOf(id))) return usual;
    auto chosen = QKeySequence::listFromString(settings.value(settingOf(id)).toString());
    chosen.removeAll(QKeySequence());  // of a command whose keys were taken away
    return chosen;
}

void KeyBindings::choose(const QString& id, const QList<QKeySequence>& keys) {
    QSettings().setValue(settingOf(id), QKeySequence::listToString(keys));
    apply();
}

void KeyBindings::reset(const QString& id) {
    QSettings().remove(id.isEmpty() ? keyGroup : settingOf(id));
    apply();
}

void KeyBindings::apply() {
    for (const Command& each : commands_) {
        if (each.action)
            each.action->setShortcuts(isWithheld(each.id) ? QList<QKeySequence>() : each.now());
    }
    emit changed();
}

std::vector<KeyBindings::Command> KeyBindings::commands() {
    std::erase_if(commands_, [](const Command& each) { return each.action.isNull(); });
    std::vector<Command> out;
    for (const Command& each : commands_) {
        // A window that goes away may still have its actions.
        const auto same = std::ranges::find(out, each.id, &Command::id);
        if (same == out.end())
            out.push_back(each);
        else
            *same = each;
    }
    for (const Command& each : declared_) {
        if (std::ranges::find(out, each.id, &Command::id) == out.end()) out.push_back(each);
    }
    return out;
}

const KeyBindings::Command* KeyBindings::userOf(const QKeySequence& key, const QString& besides) {
    const auto uses = [&](const Command& each) {
        return each.id != besides && each.now().contains(key) && meet(each.id, besides);
    };
    std::erase_if(commands_, [](const Command& each) { return each.action.isNull(); });
    const auto found = std::ranges::find_if(commands_, uses);
    if (found != commands_.end()) return &*found;
    const auto declared = std::ranges::find_if(declared_, uses);
    return declared == declared_.end() ? nullptr : &*declared;
}

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
