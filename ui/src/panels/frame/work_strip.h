#pragma once

#include <QProgressBar>
#include <QToolButton>
#include <QWidget>

#include "view/context.h"

namespace ui {

class ElidedLabel;

/// Shows in the status bar what is being exported or imported: how far it is, the time left, and a
/// button that cancels it. Hidden while nothing is, and for work that ends at once.
class WorkStrip final : public QWidget {
    Q_OBJECT
public:
    explicit WorkStrip(const Context& context, QWidget* parent = nullptr);

private:
    void refresh();

    Context context_;
    ElidedLabel* text_;
    QProgressBar* bar_;
    QToolButton* cancel_;
};

}  // namespace ui
