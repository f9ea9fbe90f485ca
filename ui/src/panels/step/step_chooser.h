#pragma once

#include <QLabel>
#include <QPushButton>
#include <QToolButton>
#include <QWidget>

#include "panels/step/scale_strip.h"
#include "view/context.h"

namespace ui {

class KeyButton;

class TitleChip;

/// Chooses run and step for all pages, at the right of the row of pages. The selection is in
/// Context::link. Hidden while no run is on screen. GUI thread.
class StepChooser final : public QWidget {
    Q_OBJECT
public:
    explicit StepChooser(const Context& context, QWidget* parent = nullptr);

signals:
    /// A skipped step was clicked.
    void skipOpened(std::int64_t step);

private:
    void makeStepBox();
    void followActor();
    void refresh();
    void refreshStep();
    void fillRuns();
    void walk(int direction, bool skips);
    void goLive();

    Context context_;
    TitleChip* run_;
    ScaleStrip* strip_;
    QWidget* box_;
    QToolButton* back_;
    QLabel* step_;
    QToolButton* forth_;
    KeyButton* live_;
};

}  // namespace ui
