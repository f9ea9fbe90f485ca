#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <functional>

#include "commands.h"

namespace ui {

class Theme;

/// The bar across the centre for what went wrong: one sentence, what to do, and a button that does
/// it where there is one. Hidden while all is well.
class MessageBar final : public QFrame {
    Q_OBJECT
public:
    explicit MessageBar(Theme* theme, QWidget* parent = nullptr);

    /// `action` is done by a button named `doIt`; no button if empty.
    void show(const Problem& problem, const QString& doIt = {}, std::function<void()> action = {});

private:
    Theme* theme_;
    QLabel* icon_;
    QLabel* text_;
    QPushButton* button_;
    std::function<void()> action_;
};

}  // namespace ui
