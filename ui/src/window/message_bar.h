#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <functional>

#include "commands/commands.h"

namespace ui {

class Theme;

/// The bar across the centre for problems: one sentence, what to do, and a button that does it, if
/// there is one. Otherwise hidden. Nothing moves when it appears or disappears: it covers the whole
/// verdict, or the lower edge of a page without one.
class MessageBar final : public QFrame {
    Q_OBJECT
public:
    /// `over`: a widget inside the parent whose place it takes; may be null.
    MessageBar(Theme* theme, QWidget* over, QWidget* parent);

    /// `action` is done by a button named `doIt`; no button if empty.
    void show(const Problem& problem, const QString& doIt = {}, std::function<void()> action = {});

    /// Training starts: messages about the last runs are over.
    void leave();

protected:
    bool event(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();
    int heightAt(int width) const;
    void applyIcon();

    Theme* theme_;
    QWidget* over_;
    bool lasts_ = false;    ///< holds for the runs to come, too
    bool answers_ = false;  ///< says that something was done: neither a fault nor a question
    QLabel* icon_;
    QLabel* text_;
    QPushButton* button_;
    std::function<void()> action_;
};

}  // namespace ui
