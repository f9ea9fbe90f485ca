#include "lab/lesson_column.h"

#include <QApplication>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "lab/knob_bar.h"
#include "lab/lesson_plots.h"
#include "lab/lesson_step.h"
#include "lab/lesson_text.h"
#include "lab/question_form.h"
#include "lab/text_scale.h"
#include "models/settings_model.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/panel.h"

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

/// The value that a run has now: of the first run with one of the knob's values, else of the first
/// run. Empty: it has none.
QString currentValue(const engine::Lesson& lesson, const engine::LessonKnob& knob,
                     std::int64_t seed) {
    QString first;
    for (const auto& run : lesson.runs) {
        const auto parsed = engine::settings_of(lesson, run, seed);
        QString text = QString::fromStdString(engine::setting_text(parsed.config, knob.path));
        text.remove(u'"');  // words stand in quotes
        if (std::ranges::find(knob.values, text.toStdString()) != knob.values.end()) return text;
        if (first.isEmpty()) first = text;
    }
    return first;
}

}  // namespace

LessonColumn::LessonColumn(const Context& context, LessonModel* model, Look look, QWidget* parent)
    : QScrollArea(parent), context_(context), model_(model), look_(look) {
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    viewport()->setAutoFillBackground(false);
    connect(model_, &LessonModel::lessonChanged, this, &LessonColumn::build);
    connect(model_, &LessonModel::answersChanged, this, &LessonColumn::refresh);
    connect(model_->runs(), &LessonRuns::phaseChanged, this, &LessonColumn::refresh);
    connect(model_->runs(), &LessonRuns::began, this, [this] { offerPause(false); });
    connect(model_->runs(), &LessonRuns::measured, this, [this] {
        for (auto* table : checks_) table->setRows(model_->checkRows());
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
    pauseOffer_ = nullptr;
    page_ = new QWidget;
    page_->setObjectName(u"sections"_s);
    auto* outer = new QHBoxLayout(page_);
    outer->setContentsMargins(size::inside, size::inside, size::inside, size::inside);
    auto* column = new QWidget(page_);
    // The disc of a step stands to the left of the 75 characters.
    QFont words = font();
    words.setPointSizeF(words.pointSizeF() * look_.scale);
    column->setMaximumWidth(lessonColumnWidth(words) + 3 * QFontMetrics(words).height());
    outer->addStretch(1);
    outer->addWidget(column, 1000);
    outer->addStretch(1);
    auto* rows = new QVBoxLayout(column);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    if (const auto lesson = model_->lesson()) {
        rows->addWidget(makeHead(*lesson));
        // What concerns no block of a step stands at the top.
        for (const auto& problem : lesson->problems) {
            if (!standsInStep(*lesson, problem)) rows->addWidget(makeProblem(problem, column));
        }
        for (std::size_t i = 0; i < lesson->steps.size(); ++i) addStep(rows, *lesson, i);
    } else {
        rows->addWidget(makeLabel(tr("No lesson is open."), "dim", column));
    }
    rows->addStretch(1);
    setWidget(page_);  // the former page goes with it
    refresh();
    showStep(look_.oneStep ? model_->currentStep() : 0);
}

QWidget* LessonColumn::makeHead(const engine::Lesson& lesson) {
    auto* head = new QWidget(page_);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, size::inside);
    row->setSpacing(size::gap);
    const auto [name, about] = titleParts(lesson);
    auto* title = makeLabel(name, nullptr, head);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setWeight(QFont::DemiBold);
    title->setFont(large);
    row->addWidget(title);
    auto* rest = makeLabel(about, "dim", head);
    rest->setWordWrap(true);
    row->addWidget(rest, 1);
    if (lesson.minutes > 0)
        row->addWidget(makeLabel(tr("about %1 min").arg(lesson.minutes), "dim", head));
    return head;
}

void LessonColumn::addStep(QVBoxLayout* column, const engine::Lesson& lesson, std::size_t index) {
    const auto& step = lesson.steps[index];
    const bool last = index + 1 == lesson.steps.size() || look_.oneStep;
    auto* made = new LessonStep(context_.theme, static_cast<int>(index) + 1, last,
                                QString::fromStdString(step.title), page_);
    for (const auto& part : step.parts) {
        if (QWidget* body = makePart(lesson, part, made)) made->add(body);
    }
    column->addWidget(made);
    steps_.push_back(made);
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
    return nullptr;  // instruments stand beside the column
}

QWidget* LessonColumn::makeRuns(const engine::Lesson& lesson, QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    for (const auto& run : lesson.runs) {
        const auto parsed = engine::settings_of(lesson, run, model_->runs()->seed());
        const QColor color = context_.theme->precision(parsed.config.precision.preset);
        auto* label =
            makeLabel(u"<span style='color:%1'>●</span> %2"_s.arg(
                          color.name(), QString::fromStdString(run.label).toHtmlEscaped()),
                      nullptr, box);
        QStringList settings;
        for (const auto& setting : run.settings) settings << QString::fromStdString(setting);
        label->setToolTip(settings.join(u'\n'));
        column->addWidget(label);
    }
    pauseOffer_ = new QFrame(box);
    pauseOffer_->setObjectName(u"guide"_s);
    auto* offer = new QHBoxLayout(pauseOffer_);
    auto* words = makeLabel(tr("An experiment is training. It would share the processor with the "
                               "lesson."),
                            nullptr, pauseOffer_);
    words->setWordWrap(true);
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

void LessonColumn::offerPause(bool offered) {
    if (pauseOffer_ == nullptr) return;
    pauseOffer_->setVisible(offered);
    if (offered) ensureWidgetVisible(pauseOffer_);
}

QWidget* LessonColumn::makePlots(const engine::Lesson& lesson,
                                 const std::vector<engine::LessonPlot>& plots, QWidget* parent) {
    engine::Lesson shown = lesson;
    shown.plots = plots;
    auto* made = new LessonPlots(context_, model_->runs(), std::move(shown),
                                 {look_.scale, look_.curveWidth}, parent);
    plots_.push_back(made);
    return made;
}

QWidget* LessonColumn::makeKnobs(const engine::Lesson& lesson,
                                 const std::vector<engine::LessonKnob>& knobs, QWidget* parent) {
    std::vector<Knob> out;
    for (const auto& each : knobs) {
        Knob knob;
        knob.path = QString::fromStdString(each.path);
        knob.title = context_.settings->label(knob.path);
        for (const auto& value : each.values) knob.values.push_back(QString::fromStdString(value));
        knob.range = each.values.empty();
        knob.low = each.low;
        knob.high = each.high;
        knob.note = QString::fromStdString(each.note);
        knob.current = currentValue(lesson, each, model_->runs()->seed());
        out.push_back(std::move(knob));
    }
    auto* bar = new KnobBar(context_.theme, out, parent);
    connect(bar, &KnobBar::turned, model_->runs(), &LessonRuns::setKnob);
    return bar;
}

QWidget* LessonColumn::makeProblem(const engine::LessonProblem& problem, QWidget* parent) {
    auto* box = new QFrame(parent);
    box->setObjectName(u"message"_s);
    auto* row = new QHBoxLayout(box);
    auto* words =
        makeLabel(tr("Line %1: %2").arg(problem.line).arg(engineText(problem.text)), nullptr, box);
    words->setTextFormat(Qt::PlainText);
    words->setWordWrap(true);
    words->setTextInteractionFlags(Qt::TextSelectableByMouse);
    row->addWidget(words);
    return box;
}

void LessonColumn::setAnswersShown(bool shown) {
    answersShown_ = shown;
    refresh();
}

void LessonColumn::refresh() {
    const auto guesses = model_->guesses();
    for (auto* form : questions_) {
        const auto guess = guesses.find(form->question().id);
        // Hands are counted here alone: the file keeps what most of the class chose.
        if (guess != guesses.end() && form->guess().hands.empty() &&
            !(guess->second == form->guess()))
            form->setGuess(guess->second);
        form->setLocked(model_->locked());
    }
    for (auto* plots : plots_) {
        plots->setGuesses(answersShown_ || !look_.oneStep ? guesses : std::map<QString, Guess>{});
        plots->setMeasuredShown(answersShown_);
    }
    for (auto* table : checks_) table->setRows(model_->checkRows());
    refreshSteps();
    scaleTexts(page_, look_.scale);
}

QString LessonColumn::noteOf(int step) const {
    const auto lesson = model_->lesson();
    const auto& parts = lesson->steps[static_cast<std::size_t>(step)].parts;
    const auto has = [&](auto* tag) {
        using Part = std::remove_pointer_t<decltype(tag)>;
        return std::ranges::any_of(
            parts, [](const auto& part) { return std::holds_alternative<Part>(part); });
    };
    if (step >= model_->firstClosedStep() && !model_->ended()) {
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
        const bool open = model_->ended() || i < model_->firstClosedStep();
        step->setOpen(open);
        step->setNote(noteOf(i));
        step->setState(i < current       ? LessonStep::State::done
                       : i == current    ? LessonStep::State::current
                       : model_->ended() ? LessonStep::State::done
                                         : LessonStep::State::later);
        if (look_.oneStep) step->setVisible(i == shown_);
    }
}

void LessonColumn::showStep(int step) {
    if (steps_.empty()) return;
    shown_ = std::clamp(step, 0, steps() - 1);
    auto* target = steps_[static_cast<std::size_t>(shown_)];
    if (look_.oneStep) {
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
