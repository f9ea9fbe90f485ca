#include "lab/lesson_page/lesson_column.h"

#include <QApplication>
#include <QPushButton>
#include <QScrollBar>
#include <algorithm>

#include "lab/lesson_page/knob_bar.h"
#include "lab/lesson_page/lesson_plots.h"
#include "lab/lesson_page/lesson_step.h"
#include "lab/lesson_page/lesson_text.h"
#include "lab/lesson_page/question_form.h"
#include "lab/lessons/run_style.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/key_rule.h"
#include "widgets/panel.h"

namespace ui {
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
    page_ = withName(new QWidget, u"sections"_s);
    auto* outer = makeRow(page_, {size::inside, size::inside, size::inside, size::inside});
    column_ = new QWidget(page_);
    // The disc of a step stands to the left of the 75 characters.
    QFont words = font();
    words.setPointSizeF(words.pointSizeF() * look_.scale);
    lineWidth_ = lessonColumnWidth(words) + 3 * QFontMetrics(words).height();
    column_->setMaximumWidth(lineWidth_);
    outer->addStretch(1);
    outer->addWidget(column_, 1000);
    outer->addStretch(1);
    auto* rows = makeColumn(column_, {}, 0);
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

namespace {

std::vector<std::string> precisionsOf(const engine::Lesson& lesson, std::int64_t seed) {
    std::vector<std::string> out;
    for (const auto& run : lesson.runs)
        out.push_back(engine::lesson_settings(lesson, run, seed).config.precision.preset);
    return out;
}

}  // namespace

QWidget* LessonColumn::makeHead(const engine::Lesson& lesson) {
    auto* head = new QWidget(page_);
    auto* row = makeRow(head, {0, 0, 0, size::inside}, size::gap);
    const auto [name, about] = titleParts(lesson);
    auto* title = makeLabel(name, nullptr, head);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setWeight(QFont::Bold);
    title->setFont(large);
    title->setWordWrap(about.isEmpty());
    row->addWidget(title, about.isEmpty() ? 1 : 0);
    auto* rest = makeProse(about, "dim", head);
    rest->setVisible(!about.isEmpty());
    row->addWidget(rest, 1);
    if (lesson.minutes > 0)
        row->addWidget(makeLabel(tr("about %1 min").arg(lesson.minutes), "dim", head));
    return head;
}

QWidget* LessonColumn::makePart(const engine::Lesson& lesson, const engine::LessonPart& part,
                                QWidget* at) {
    if (const auto* text = std::get_if<engine::LessonMarkdown>(&part)) {
        return new LessonText(context_.theme, QString::fromStdString(text->text),
                              QString::fromStdString(lesson.folder.string()), at);
    }
    if (const auto* prediction = std::get_if<engine::Prediction>(&part)) {
        auto* form = new QuestionForm(context_.theme, questionOf(*prediction), at);
        if (look_.oneStep) form->showHands();
        connect(form, &QuestionForm::answered, this,
                [this, form] { model_->setGuess(form->question(), form->guess()); });
        questions_.push_back(form);
        return form;
    }
    if (std::holds_alternative<engine::LessonRuns>(part)) return makeRuns(lesson, at);
    if (const auto* plots = std::get_if<std::vector<engine::LessonPlot>>(&part))
        return makePlots(lesson, *plots, at);
    if (std::holds_alternative<std::vector<engine::LessonCheck>>(part)) {
        auto* table = new CheckTable(at);
        connect(table, &CheckTable::showWanted, this, &LessonColumn::whereWanted);
        checks_.push_back(table);
        return table;
    }
    if (const auto* knobs = std::get_if<std::vector<engine::LessonKnob>>(&part))
        return makeKnobs(lesson, *knobs, at);
    if (const auto* problem = std::get_if<engine::LessonProblem>(&part))
        return makeProblem(*problem, at);
    return nullptr;  // instruments have a page of their own beside the column
}

QWidget* LessonColumn::makeRunName(const engine::Lesson& lesson, std::size_t run, QWidget* parent) {
    auto* line = new QWidget(parent);
    auto* row = makeRow(line, {}, size::gap);
    row->addWidget(
        makeRunSwatch(context_.theme, precisionsOf(lesson, model_->runs()->seed()), run, line));
    auto* label = makeLabel(QString::fromStdString(lesson.runs[run].label), nullptr, line);
    label->setTextFormat(Qt::PlainText);
    label->setToolTip(stringList(lesson.runs[run].settings).join(u'\n'));
    row->addWidget(label);
    auto* failure = makeProse({}, "bad", line);
    failure->setTextFormat(Qt::PlainText);
    row->addWidget(failure, 1);
    failures_.push_back(failure);
    return line;
}

QWidget* LessonColumn::makeRuns(const engine::Lesson& lesson, QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* column = makeColumn(box, {}, 2);
    auto* names = new QGridLayout;
    names->setSpacing(2);
    const int side = look_.oneStep ? 2 : 1;  // names side by side
    for (std::size_t i = 0; i < lesson.runs.size(); ++i) {
        const int place = static_cast<int>(i);
        names->addWidget(makeRunName(lesson, i, box), place / side, place % side);
    }
    column->addLayout(names);
    pauseOffer_ = withName(new QFrame(box), u"guide"_s);
    auto* offer = new QHBoxLayout(pauseOffer_);
    auto* words = makeProse(tr("An experiment is training. It would share the processor with the "
                               "lesson."),
                            nullptr, pauseOffer_);
    auto* pause = new QPushButton(tr("Pause it and run"), pauseOffer_);
    offer->addWidget(words, 1);
    offer->addWidget(pause);
    column->addWidget(pauseOffer_);
    pauseOffer_->hide();
    connect(pause, &QPushButton::clicked, this, [this] {
        model_->runs()->pauseOthers();
        offerPause(false);
    });
    return box;
}

QWidget* LessonColumn::makePlots(const engine::Lesson& lesson,
                                 const std::vector<engine::LessonPlot>& plots, QWidget* parent) {
    engine::Lesson shown = lesson;
    shown.plots = plots;
    auto* made = new LessonPlots(context_, model_->runs(), std::move(shown),
                                 {look_.scale, look_.curveWidth, look_.oneStep}, parent);
    plots_.push_back(made);
    return made;
}

QWidget* LessonColumn::makeKnobs(const engine::Lesson& lesson,
                                 const std::vector<engine::LessonKnob>& knobs, QWidget* parent) {
    auto* bar = new KnobBar(
        context_.theme, knobsOf(lesson, knobs, model_->runs()->seed(), *context_.settings), parent);
    connect(bar, &KnobBar::turned, model_->runs(), &LessonRuns::setKnob);
    knobs_.push_back(bar);
    return bar;
}

QWidget* LessonColumn::makeProblem(const engine::LessonProblem& problem, QWidget* parent) {
    auto* box = withName(new QFrame(parent), u"message"_s);
    auto* row = new QHBoxLayout(box);
    auto* words =
        makeProse(tr("Line %1: %2").arg(problem.line).arg(engineText(problem.text)), nullptr, box);
    words->setTextFormat(Qt::PlainText);
    words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(words);
    return box;
}

}  // namespace ui
