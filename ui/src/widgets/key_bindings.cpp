#include "widgets/key_bindings.h"

#include <QSettings>
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

QString titleOf(const QAction* action) {
    QString title = action->text();
    return title.remove(u'&').remove(u'…');
}

}  // namespace

KeyBindings* KeyBindings::instance() {
    static KeyBindings bindings;
    return &bindings;
}

void KeyBindings::bind(QAction* action, const QString& id, QList<QKeySequence> usual) {
    usual.removeAll(QKeySequence());
    std::erase_if(commands_, [](const Command& each) { return each.action.isNull(); });
    action->setShortcuts(keys(id, usual));
    commands_.push_back({id, titleOf(action), usual, action});
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
        if (each.action) each.action->setShortcuts(keys(each.id, each.usual));
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
    return out;
}

const KeyBindings::Command* KeyBindings::userOf(const QKeySequence& key, const QString& besides) {
    const auto uses = [&](const Command& each) {
        return each.id != besides && each.action && each.action->shortcuts().contains(key) &&
               meet(each.id, besides);
    };
    const auto found = std::ranges::find_if(commands_, uses);
    return found == commands_.end() ? nullptr : &*found;
}

}  // namespace ui
