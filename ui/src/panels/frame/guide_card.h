#pragma once

#include <QFrame>
#include <QLabel>
#include <QPushButton>

#include "view/context.h"

namespace ui {

/// Tells the user what to look at while the runs of the demonstration are on screen, and what they
/// showed once they have ended. Otherwise hidden; after being closed, hidden until the next
/// experiment.
class GuideCard final : public QFrame {
    Q_OBJECT
public:
    explicit GuideCard(const Context& context, QWidget* parent = nullptr);

private:
    void refresh();
    /// The conclusion from the figures of the three runs, or before their end what to expect.
    QString outcome() const;

    Context context_;
    QLabel* text_;
    QPushButton* select_;  ///< a step of the third run
    bool closed_ = false;
};

}  // namespace ui
