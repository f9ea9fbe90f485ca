#pragma once

#include <QKeyEvent>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QWidget>

namespace ui {

/// Use that a widget makes of keys that the window uses as well.
enum class KeyUse {
    text,    ///< text is typed there, Space too
    number,  ///< digits are typed there; letters and Space do nothing
    press,   ///< a button or box: Space presses it
    none,
};
KeyUse keyUse(const QWidget* widget);

/// Space presses this widget, though it is neither a button nor a box of the toolkit.
void setPressedBySpace(QWidget* widget, bool pressed = true);

/// The wheel over this widget scrolls what it lies in; with Ctrl it is the widget's own.
void setWheelScrolls(QWidget* widget);

/// A window whose keyPressEvent() gets these keys wherever its focus is.
void claimKeys(QWidget* window, const QList<QKeyCombination>& keys);

/// The one rule for keys that both a widget and the window could take. Filters the events of the
/// whole application while it exists; a second one does nothing. GUI thread.
///
/// - Space types where text is typed, presses a button or box, and is the window's elsewhere.
/// - A field for numbers takes no letters and no Space.
/// - Return presses the focused button. Ctrl+Return belongs to the window and presses nothing.
/// - A window's claimed keys go to the window.
/// - Ctrl+Z belongs to a line of text while it has something to undo, else to the window.
/// - In what can be scrolled, the wheel scrolls past a list or a number.
class KeyRule final : public QObject {
    Q_OBJECT
public:
    explicit KeyRule(QObject* parent = nullptr);
    ~KeyRule() override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool overrides(QWidget* widget, QKeyEvent* key) const;
    bool presses(QWidget* widget, QKeyEvent* key) const;
};

/// Property of a widget whose children the Tab key visits before it goes on: a column of a page.
/// Columns follow from left to right.
inline constexpr const char* readingGroup = "readingGroup";

}  // namespace ui
