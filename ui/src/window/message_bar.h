#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <functional>

#include "commands/commands.h"

namespace ui {

class Theme;

/// The bar across the centre for problems: one sentence, what to do, and a button that does it, if
/// there is one. Otherwise hidden. It covers the verdict's place, so nothing moves when it appears
/// or disappears; if that place is not on screen, the parent's layout makes room for it at the top.
class MessageBar final : public QFrame {
    Q_OBJECT
public:
    /// `over`: a widget inside the parent whose place it takes; may be null.
    MessageBar(Theme* theme, QWidget* over, QWidget* parent);

    /// `action` is done by a button named `doIt`; no button if empty.
    void show(const Problem& problem, const QString& doIt = {}, std::function<void()> action = {});

protected:
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();
    int topFor(int height) const;
    void makeRoom(int height);
    bool standsOver() const;

    Theme* theme_;
    QWidget* over_;
    QLabel* icon_;
    QLabel* text_;
    QPushButton* button_;
    std::function<void()> action_;
};

}  // namespace ui
