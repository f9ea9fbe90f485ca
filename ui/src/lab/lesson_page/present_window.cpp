#include "lab/lesson_page/present_window.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPushButton>
#include <QScreen>
#include <algorithm>

#include "lab/instruments/instrument.h"
#include "lab/lesson_page/lesson_column.h"
#include "theme/theme.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {
namespace {

/// Enlarges fonts on a screen with more pixels than a projector and no scaling of its own.
double screenScale(const QWidget* widget) {
    constexpr double usual = 1080;  // pixels
    const QScreen* screen = widget != nullptr ? widget->screen() : nullptr;
    return screen == nullptr ? 1 : std::max(1.0, screen->geometry().height() / usual);
}

}  // namespace

PresentWindow::PresentWindow(const Context& context, LessonModel* model, int step, QWidget* parent)
    : QWidget(parent, Qt::Window), context_(context), model_(model) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(QString::fromStdString(model_->lesson()->title));
    const double scale = textScale * screenScale(parent);
    column_ = new LessonColumn(context_, model_, {scale, curveWidth, true}, this);
    instruments_ = new InstrumentPanel(context_, model_, scale * 0.75, Qt::Horizontal, this);
    auto* rows = makeColumn(this, {size::inside, size::inside, size::inside, size::inside});
    rows->addWidget(column_, 3);
    rows->addWidget(instruments_, 2);
    auto* foot = new QHBoxLayout;
    place_ = makeLabel({}, "dim", this);
    foot->addWidget(place_, 1);
    auto* leave = new QPushButton(tr("Leave (Esc)"), this);
    auto* before = new QPushButton(tr("Back"), this);
    next_ = withName(new QPushButton(this), u"primary"_s);
    for (auto* button : {leave, before, next_}) {
        button->setFocusPolicy(Qt::NoFocus);  // keys belong to the lesson
        foot->addWidget(button);
    }
    rows->addLayout(foot);
    connect(leave, &QPushButton::clicked, this, &QWidget::close);
    connect(before, &QPushButton::clicked, this, &PresentWindow::back);
    connect(next_, &QPushButton::clicked, this, &PresentWindow::goOn);
    connect(column_, &LessonColumn::stepShown, this, &PresentWindow::refresh);
    connect(model_->runs(), &LessonRuns::phaseChanged, this, &PresentWindow::refresh);
    connect(model_->runs(), &LessonRuns::buttonsChanged, this, &PresentWindow::refresh);
    connect(model_, &LessonModel::lessonChanged, this, &PresentWindow::refresh);
    // A knob of Try runs the lesson again: show its curves.
    connect(model_->runs(), &LessonRuns::began, this,
            [this] { column_->showStep(model_->runStep()); });
    connect(column_, &LessonColumn::whereWanted, this, [this](std::int64_t wanted) {
        model_->runs()->link()->select(wanted);
        column_->showStep(model_->runStep());
    });
    setFocusPolicy(Qt::StrongFocus);
    claimKeys(this, {Qt::Key_PageDown, Qt::Key_PageUp, Qt::Key_Escape, Qt::Key_F5,
                     Qt::CTRL | Qt::Key_Return, Qt::CTRL | Qt::Key_Enter});
    column_->showStep(step);
    refresh();
}

bool PresentWindow::isStep(int step, bool withRuns) const {
    const auto lesson = model_->lesson();
    if (!lesson || step < 0 || step >= static_cast<int>(lesson->steps.size())) return false;
    for (const auto& part : lesson->steps[static_cast<std::size_t>(step)].parts) {
        if (withRuns ? std::holds_alternative<engine::LessonRuns>(part)
                     : std::holds_alternative<std::vector<engine::LessonCheck>>(part))
            return true;
    }
    return false;
}

void PresentWindow::goOn() {
    const int step = column_->shownStep();
    auto* runs = model_->runs();
    const bool runsHere = isStep(step, true) && runs->phase() == LessonRuns::Phase::notRun;
    const bool checksNext = model_->lesson() && model_->lesson()->runs.empty() &&
                            isStep(step + 1, false) && runs->phase() == LessonRuns::Phase::notRun;
    if (runsHere && runs->buttons().compare.enabled) return runs->start();
    if (checksNext && runs->buttons().compare.enabled) runs->start();
    const bool closed = step + 1 >= model_->firstClosedStep() && !model_->opened();
    if (step + 1 < column_->steps() && !closed) column_->showStep(step + 1);
}

void PresentWindow::back() { column_->showStep(column_->shownStep() - 1); }

void PresentWindow::refresh() {
    if (!model_->lesson()) return;
    const int step = column_->shownStep();
    bool checked = false;
    for (int i = 0; i <= step; ++i) checked = checked || isStep(i, false);
    column_->setAnswersShown(checked);
    instruments_->setVisible(instruments_->any() &&
                             (isStep(step, true) || model_->lesson()->runs.empty()));
    place_->setText(tr("%1 · step %2 of %3")
                        .arg(titleParts(*model_->lesson()).first)
                        .arg(step + 1)
                        .arg(column_->steps()));
    const bool start = isStep(step, true) && model_->runs()->phase() == LessonRuns::Phase::notRun;
    next_->setText(start ? tr("Run (Page Down)") : tr("Next (Page Down)"));
    next_->setToolTip(start ? model_->runs()->buttons().compare.why : QString());
}

void PresentWindow::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_PageDown:
            return goOn();
        case Qt::Key_PageUp:
            return back();
        case Qt::Key_Escape:
        case Qt::Key_F5:
            close();
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (event->modifiers().testFlag(Qt::ControlModifier) &&
                model_->runs()->buttons().compare.enabled)
                model_->runs()->start();
            return;
        case Qt::Key_Space:
            return model_->runs()->togglePause();
        case Qt::Key_S:
            return model_->runs()->step();
        default:
            break;
    }
    if (event->key() >= Qt::Key_1 && event->key() <= Qt::Key_9)
        column_->choose(event->key() - Qt::Key_0);
    else
        QWidget::keyPressEvent(event);
}

void PresentWindow::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), context_.theme->tokens().panel);
}

}  // namespace ui
