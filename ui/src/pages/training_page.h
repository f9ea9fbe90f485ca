#pragma once

#include <QMainWindow>

#include "view/context.h"

namespace ui {

class RunCards;

/// The runs on screen: what each has reached, the verdict on them, and the plots.
class TrainingPage final : public QWidget {
    Q_OBJECT
public:
    explicit TrainingPage(const Context& context, QWidget* parent = nullptr);

    /// In which the plots are docks.
    QMainWindow* plots() const { return plots_; }
    /// Widgets above the plots, in reading order.
    const QList<QWidget*>& head() const { return head_; }
    /// In a low window the cards are a table.
    void setLow(bool low);

private:
    QList<QWidget*> head_;
    RunCards* cards_;
    QMainWindow* plots_;
};

}  // namespace ui
