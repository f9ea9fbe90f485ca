#pragma once

#include <QWidget>

#include "lab/lessons/lesson_model.h"
#include "view/context.h"

class QLabel;
class QPushButton;

namespace ui {

class InstrumentPanel;
class LessonColumn;

/// The lesson on a projector: full screen, one step at a time, text 1.8 times larger, the
/// instrument beneath. Page Down continues, and starts the run where that comes next, so a clicker
/// suffices; Escape ends it. Answers stay hidden until the step with the checks. GUI thread.
class PresentWindow final : public QWidget {
    Q_OBJECT
public:
    static constexpr double textScale = 1.8;
    static constexpr double curveWidth = 3;  // pixels

    PresentWindow(const Context& context, LessonModel* model, int step, QWidget* parent = nullptr);

    LessonColumn* column() { return column_; }
    /// The action of Page Down: starts the run if it is next, else shows the next step.
    void goOn();

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void back();
    void refresh();
    bool isStep(int step, bool withRuns) const;

    Context context_;
    LessonModel* model_;
    LessonColumn* column_;
    InstrumentPanel* instruments_;
    QLabel* place_;
    QPushButton* next_;
};

}  // namespace ui
