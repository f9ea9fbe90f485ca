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

}  // namespace ui
