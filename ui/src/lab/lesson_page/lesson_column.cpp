#include "lab/lesson_page/lesson_column.h"

#include <QApplication>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "lab/lesson_page/knob_bar.h"
#include "lab/lesson_page/lesson_plots.h"
#include "lab/lesson_page/lesson_step.h"
#include "lab/lesson_page/lesson_text.h"
#include "lab/lesson_page/question_form.h"
#include "lab/lessons/text_scale.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/panel.h"
#include "widgets/reading_group.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

/// The problem is shown in place of its block.
bool standsInStep(const engine::Lesson& lesson, const engine::LessonProblem& problem) {
    const auto is = [&](const engine::LessonPart& part) {
        const auto* other = std::get_if<engine::LessonProblem>(&part);
        return other != nullptr && other->line == problem.line;
    };
    return std::ranges::any_of(
        lesson.steps, [&](const auto& step) { return std::ranges::any_of(step.parts, is); });
}

}  // namespace

LessonColumn::LessonColumn(const Context& context, LessonModel* model, Look look, QWidget* parent)
    : QScrollArea(parent), context_(context), model_(model), look_(look) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    setProperty(readingGroup, true);
    viewport()->setAutoFillBackground(false);
    connect(model_, &LessonModel::lessonChanged, this, &LessonColumn::build);
    connect(model_, &LessonModel::answersChanged, this, &LessonColumn::refresh);
    connect(model_->runs(), &LessonRuns::phaseChanged, this, &LessonColumn::refresh);
    connect(model_->runs(), &LessonRuns::began, this, [this] {
        offerPause(false);
        // The first run brings its plots into view; a knob stays where it was turned.
        if (!look_.oneStep && model_->runs()->former().empty()) showStep(model_->runStep());
    });
    connect(model_->runs(), &LessonRuns::measured, this, [this] {
        for (auto* table : checks_) table->setRows(model_->checkRows());
        refreshFailures();
        refreshSteps();
        scaleTexts(page_, look_.scale);
    });
    connect(model_->runs(), &LessonRuns::pauseOffered, this, [this] { offerPause(true); });
    build();
}

void LessonColumn::build() {
    steps_.clear();
    questions_.clear();
    plots_.clear();
    checks_.clear();
    knobs_.clear();
    failures_.clear();
    pauseOffer_ = nullptr;
    page_ = new QWidget;
    page_->setObjectName(u"sections"_s);
    auto* outer = new QHBoxLayout(page_);
    outer->setContentsMargins(size::inside, size::inside, size::inside, size::inside);
    column_ = new QWidget(page_);
    // The disc of a step stands to the left of the 75 characters.
    QFont words = font();
    words.setPointSizeF(words.pointSizeF() * look_.scale);
    lineWidth_ = lessonColumnWidth(words) + 3 * QFontMetrics(words).height();
    column_->setMaximumWidth(lineWidth_);
    outer->addStretch(1);
    outer->addWidget(column_, 1000);
    outer->addStretch(1);
    auto* rows = new QVBoxLayout(column_);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    if (const auto lesson = model_->lesson()) {
        rows->addWidget(makeHead(*lesson));
        // Problems that concern no block of a step are listed at the top.
        for (const auto& problem : lesson->problems) {
            if (!standsInStep(*lesson, problem)) rows->addWidget(makeProblem(problem, column_));
        }
        for (std::size_t i = 0; i < lesson->steps.size(); ++i) addStep(rows, *lesson, i);
    } else {
        rows->addWidget(makeLabel(tr("No lesson is open."), "dim", column_));
    }
    rows->addStretch(1);
    setWidget(page_);  // the former page goes with it
    refresh();
    showStep(look_.oneStep ? model_->currentStep() : 0);
}

void LessonColumn::addStep(QVBoxLayout* column, const engine::Lesson& lesson, std::size_t index) {
    const auto& step = lesson.steps[index];
    const bool last = index + 1 == lesson.steps.size() || look_.oneStep;
    auto* made = new LessonStep(context_.theme, static_cast<int>(index) + 1, last,
                                QString::fromStdString(step.title), page_);
    int fills = 0;  // on a projector the plots take the height that is left
    for (const auto& part : step.parts) {
        const bool plots = std::holds_alternative<std::vector<engine::LessonPlot>>(part);
        const int stretch = look_.oneStep && plots ? 1 : 0;
        if (QWidget* body = makePart(lesson, part, made)) made->add(body, stretch);
        fills = std::max(fills, stretch);
    }
    column->addWidget(made, 1000 * fills);
    steps_.push_back(made);
}

void LessonColumn::offerPause(bool offered) {
    if (pauseOffer_ == nullptr) return;
    pauseOffer_->setVisible(offered);
    if (offered) ensureWidgetVisible(pauseOffer_);
}

void LessonColumn::setAnswersShown(bool shown) {
    answersShown_ = shown;
    refresh();
}

void LessonColumn::refresh() {
    const auto guesses = model_->guesses();
    for (auto* form : questions_) {
        const auto guess = guesses.find(form->question().id);
        if (guess != guesses.end() && !(guess->second == form->guess()))
            form->setGuess(guess->second);
        form->setLocked(model_->locked());
    }
    for (auto* plots : plots_) {
        plots->setGuesses(answersShown_ || !look_.oneStep ? guesses : std::map<QString, Guess>{});
        plots->setMeasuredShown(answersShown_);
    }
    for (auto* table : checks_) table->setRows(model_->checkRows());
    for (auto* bar : knobs_) bar->setTurned(model_->runs()->knobs());
    refreshSteps();
    scaleTexts(page_, look_.scale);
}

void LessonColumn::refreshFailures() {
    const auto& runs = model_->runs()->snapshot().runs;
    for (std::size_t i = 0; i < failures_.size(); ++i) {
        const bool failed = i < runs.size() && runs[i].failed;
        failures_[i]->setText(failed ? engineText(runs[i].failed->message) : QString());
    }
}

QString LessonColumn::noteOf(int step) const {
    const auto lesson = model_->lesson();
    const auto& parts = lesson->steps[static_cast<std::size_t>(step)].parts;
    const auto has = [&](auto* tag) {
        using Part = std::remove_pointer_t<decltype(tag)>;
        return std::ranges::any_of(
            parts, [](const auto& part) { return std::holds_alternative<Part>(part); });
    };
    if (step >= model_->firstClosedStep() && !model_->opened()) {
        const std::int64_t end = model_->runs()->plannedSteps();
        return lesson->runs.empty() ? tr("opens with the answers")
               : end > 0            ? tr("opens when the run ends, at step %1").arg(count(end))
                                    : tr("opens when the run ends");
    }
    if (has(static_cast<engine::Prediction*>(nullptr))) {
        if (model_->locked()) return tr("locked when the run started");
        if (!model_->predicted()) return tr("unlocks Run");
    }
    if (has(static_cast<engine::LessonRuns*>(nullptr)) && lesson->runs.size() > 1)
        return model_->locked() ? tr("trained now, on this computer")
                                : tr("trained side by side, on this computer");
    return {};
}

void LessonColumn::refreshSteps() {
    if (!model_->lesson()) return;
    const int current = model_->currentStep();
    for (int i = 0; i < steps(); ++i) {
        auto* step = steps_[static_cast<std::size_t>(i)];
        const bool open = model_->opened() || i < model_->firstClosedStep();
        step->setOpen(open);
        step->setNote(noteOf(i));
        step->setState(i < current    ? LessonStep::State::done
                       : i == current ? LessonStep::State::current
                                      : LessonStep::State::later);
        if (look_.oneStep) step->setVisible(i == shown_);
    }
}

void LessonColumn::showStep(int step) {
    if (steps_.empty()) return;
    shown_ = std::clamp(step, 0, steps() - 1);
    auto* target = steps_[static_cast<std::size_t>(shown_)];
    if (look_.oneStep) {
        // Plots stand side by side, text has lines that can be read.
        const bool wide = shown_ == model_->runStep() && !plots_.empty();
        column_->setMaximumWidth(wide ? QWIDGETSIZE_MAX : lineWidth_);
        refreshSteps();
        verticalScrollBar()->setValue(0);
    } else {
        if (shown_ > 0) {
            widget()->layout()->activate();
            verticalScrollBar()->setValue(target->mapTo(widget(), QPoint(0, 0)).y() - size::inside);
        } else {
            verticalScrollBar()->setValue(0);
        }
    }
    emit stepShown(shown_);
}

void LessonColumn::focusFirst() {
    for (auto* form : questions_) {
        for (auto* widget : form->findChildren<QWidget*>()) {
            if ((widget->focusPolicy() & Qt::TabFocus) == 0 || !widget->isEnabled()) continue;
            widget->setFocus(Qt::TabFocusReason);
            return ensureWidgetVisible(form);
        }
    }
}

bool LessonColumn::choose(int number) {
    const auto has = [](const QuestionForm* form) {
        const QWidget* focus = QApplication::focusWidget();
        return focus != nullptr && form->isAncestorOf(focus);
    };
    const auto focused = std::ranges::find_if(questions_, has);
    if (focused != questions_.end() && (*focused)->choose(number)) return true;
    const auto open = std::ranges::find_if(questions_, [](const QuestionForm* form) {
        return form->question().kind == Question::Kind::choice && form->guess().empty();
    });
    if (open != questions_.end()) return (*open)->choose(number);
    const auto first = std::ranges::find_if(questions_, [](const QuestionForm* form) {
        return form->question().kind == Question::Kind::choice;
    });
    return first != questions_.end() && (*first)->choose(number);
}

}  // namespace ui
