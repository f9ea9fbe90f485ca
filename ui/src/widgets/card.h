#pragma once

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace ui {

class ElidedLabel;

/// A panel that is not a dock: a head with a title, a dim note and tools, and a body below.
class Card final : public QFrame {
    Q_OBJECT
public:
    explicit Card(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    /// Ends in "…" where it does not fit.
    void setNote(const QString& note);
    /// At the right end of the head.
    void addToHead(QWidget* widget);
    /// Below what is there.
    void addBody(QWidget* widget, int stretch = 0);

private:
    QHBoxLayout* head_;
    QVBoxLayout* column_;
    QLabel* title_;
    ElidedLabel* note_;
};

}  // namespace ui
