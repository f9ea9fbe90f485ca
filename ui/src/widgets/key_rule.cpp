#include "widgets/key_rule.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QGroupBox>
#include <QKeySequenceEdit>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextEdit>
#include <QToolButton>
#include <QValidator>
#include <QVariant>
#include <QWheelEvent>
#include <algorithm>

namespace ui {

namespace {

constexpr char pressedProperty[] = "pressedBySpace";
constexpr char claimedProperty[] = "claimedKeys";
constexpr char scrolledProperty[] = "wheelScrolls";

KeyRule* ruling = nullptr;

bool isPlain(const QKeyEvent* key) {
    return !(key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier));
}

bool isReturn(const QKeyEvent* key) {
    return key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
}

bool isRun(const QKeyEvent* key) {
    return isReturn(key) &&
           (key->modifiers() & ~Qt::KeypadModifier) == Qt::KeyboardModifiers(Qt::ControlModifier);
}

/// A character that a number may have: "-1.5e-3", and "," in a list of them.
bool isOfNumber(const QString& text) {
    return std::ranges::all_of(text, [](QChar c) {
        return c.isDigit() || !c.isPrint() || QStringView(u"+-.,eE").contains(c);
    });
}

bool isClaimed(const QWidget* window, const QKeyEvent* key) {
    const auto keys = window->property(claimedProperty).toList();
    const QKeyCombination pressed(key->modifiers() & ~Qt::KeypadModifier,
                                  static_cast<Qt::Key>(key->key()));
    return keys.contains(QVariant(pressed.toCombined()));
}

bool takesNumber(const QLineEdit* line) {
    return line->inputMethodHints().testAnyFlags(Qt::ImhDigitsOnly | Qt::ImhFormattedNumbersOnly) ||
           qobject_cast<const QIntValidator*>(line->validator()) != nullptr ||
           qobject_cast<const QDoubleValidator*>(line->validator()) != nullptr;
}

/// Undo or Redo in a line edit that has nothing of the kind, or must not change.
bool goesPastTheLine(const QWidget* widget, const QKeyEvent* key) {
    const auto* line = qobject_cast<const QLineEdit*>(widget);
    if (line == nullptr) return false;
    if (key->matches(QKeySequence::Undo)) return line->isReadOnly() || !line->isUndoAvailable();
    if (key->matches(QKeySequence::Redo)) return line->isReadOnly() || !line->isRedoAvailable();
    return false;
}

/// Whether the wheel scrolls although the widget would use it: over a value, which scrolling must
/// not change (the focus tells nothing, since the wheel brings it along), and where the widget is
/// part of a longer text.
bool wheelGoesPast(const QWidget* widget, Qt::KeyboardModifiers modifiers) {
    if (widget->property(scrolledProperty).toBool())
        return !modifiers.testFlag(Qt::ControlModifier);
    if (qobject_cast<const QComboBox*>(widget) == nullptr &&
        qobject_cast<const QAbstractSpinBox*>(widget) == nullptr)
        return false;
    for (const auto* above = widget->parentWidget(); above != nullptr;
         above = above->parentWidget()) {
        if (qobject_cast<const QAbstractScrollArea*>(above) != nullptr) return true;
    }
    return false;
}

}  // namespace

KeyUse keyUse(const QWidget* widget) {
    if (widget == nullptr || !widget->isEnabled()) return KeyUse::none;
    if (const auto* line = qobject_cast<const QLineEdit*>(widget)) {
        if (takesNumber(line)) return KeyUse::number;
        return line->isReadOnly() ? KeyUse::none : KeyUse::text;
    }
    if (const auto* spin = qobject_cast<const QAbstractSpinBox*>(widget))
        return spin->isReadOnly() ? KeyUse::none : KeyUse::number;
    if (const auto* edit = qobject_cast<const QTextEdit*>(widget))
        return edit->isReadOnly() ? KeyUse::none : KeyUse::text;
    if (const auto* edit = qobject_cast<const QPlainTextEdit*>(widget))
        return edit->isReadOnly() ? KeyUse::none : KeyUse::text;
    if (const auto* box = qobject_cast<const QComboBox*>(widget))
        return box->isEditable() ? KeyUse::text : KeyUse::press;
    if (qobject_cast<const QAbstractButton*>(widget) != nullptr) return KeyUse::press;
    if (const auto* group = qobject_cast<const QGroupBox*>(widget))
        return group->isCheckable() ? KeyUse::press : KeyUse::none;
    return widget->property(pressedProperty).toBool() ? KeyUse::press : KeyUse::none;
}

void setPressedBySpace(QWidget* widget, bool pressed) {
    widget->setProperty(pressedProperty, pressed);
}

void setWheelScrolls(QWidget* widget) {
    widget->setProperty(scrolledProperty, true);
    widget->setAttribute(Qt::WA_NoMousePropagation, false);  // QCustomPlot keeps all events
}

void claimKeys(QWidget* window, const QList<QKeyCombination>& keys) {
    QVariantList all;
    for (const QKeyCombination& key : keys) all << key.toCombined();
    window->setProperty(claimedProperty, all);
}

KeyRule::KeyRule(QObject* parent) : QObject(parent) {
    if (ruling != nullptr) return;
    ruling = this;
    qApp->installEventFilter(this);
}

KeyRule::~KeyRule() {
    if (ruling == this) ruling = nullptr;
}

bool KeyRule::eventFilter(QObject* watched, QEvent* event) {
    const auto type = event->type();
    if (type != QEvent::ShortcutOverride && type != QEvent::KeyPress && type != QEvent::Wheel)
        return false;
    // A field that records a key takes all of them.
    if (!watched->isWidgetType() || qobject_cast<QKeySequenceEdit*>(watched) != nullptr)
        return false;
    auto* widget = static_cast<QWidget*>(watched);
    if (type == QEvent::Wheel) {
        if (!wheelGoesPast(widget, static_cast<QWheelEvent*>(event)->modifiers())) return false;
        event->ignore();  // the scroll area's
        return true;
    }
    auto* key = static_cast<QKeyEvent*>(event);
    return type == QEvent::ShortcutOverride ? overrides(widget, key) : presses(widget, key);
}

/// Before shortcuts are looked up: accepting the event keeps the key from them, and true ends the
/// search for a widget that would accept it.
bool KeyRule::overrides(QWidget* widget, QKeyEvent* key) const {
    if (isClaimed(widget->window(), key)) {
        key->accept();
        return true;
    }
    if (isRun(key) || goesPastTheLine(widget, key)) {
        key->ignore();
        return true;
    }
    if (!isPlain(key)) return false;
    const KeyUse use = keyUse(widget);
    if (key->key() == Qt::Key_Space) {
        key->setAccepted(use == KeyUse::text || use == KeyUse::press);
        return true;
    }
    if (use != KeyUse::number || key->text().isEmpty() || !key->text().front().isPrint())
        return false;
    key->accept();  // a letter in a field for numbers is no command either
    return true;
}

bool KeyRule::presses(QWidget* widget, QKeyEvent* key) const {
    QWidget* window = widget->window();
    if (isClaimed(window, key)) {
        if (widget == window) return false;
        QCoreApplication::sendEvent(window, key);
        key->accept();
        return true;
    }
    if (isRun(key)) {
        key->accept();  // a shortcut that may not act now does nothing
        return true;
    }
    if (!isPlain(key)) return false;
    if (isReturn(key)) {
        const bool button = qobject_cast<QPushButton*>(widget) != nullptr ||
                            qobject_cast<QToolButton*>(widget) != nullptr;
        if (!button || !widget->isEnabled()) return false;
        key->accept();
        if (!key->isAutoRepeat()) static_cast<QAbstractButton*>(widget)->click();
        return true;
    }
    if (keyUse(widget) != KeyUse::number || isOfNumber(key->text())) return false;
    key->accept();
    return true;
}

}  // namespace ui
