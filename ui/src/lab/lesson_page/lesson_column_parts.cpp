// Contents of the steps of a lesson: one widget for each of its blocks.
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "lab/lesson_page/knob_bar.h"
#include "lab/lesson_page/lesson_column.h"
#include "lab/lesson_page/lesson_plots.h"
#include "lab/lesson_page/lesson_text.h"
#include "lab/lesson_page/question_form.h"
#include "lab/lessons/run_style.h"
#include "models/settings_model.h"
#include "text/language.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

bool sameSetting(const QString& a, const QString& b) {
    bool first = false, second = false;
    const double x = a.toDouble(&first), y = b.toDouble(&second);
    return first && second ? x == y : a == b;
}

/// The value that the runs of a knob have, as the knob writes it. Empty: they differ.
QString ownValue(const engine::Lesson& lesson, const engine::LessonKnob& knob, std::int64_t seed) {
    QString own;
    for (const auto& run : lesson.runs) {
        if (!engine::knob_applies(lesson, run, knob.path)) continue;
        const auto parsed = engine::settings_of(lesson, run, seed);
        QString text = QString::fromStdString(engine::setting_text(parsed.config, knob.path));
        if (text == u"null"_s) return {};  // what the preset stands for
        if (text.startsWith(u'"')) text = text.mid(1, text.size() - 2);  // words stand in quotes
        if (!own.isEmpty() && !sameSetting(own, text)) return {};
        own = text;
    }
    for (const auto& value : knob.values) {
        const QString text = QString::fromStdString(value);
        if (sameSetting(text, own)) return text;
    }
    return own;
}

std::vector<std::string> precisionsOf(const engine::Lesson& lesson, std::int64_t seed) {
    std::vector<std::string> out;
    for (const auto& run : lesson.runs)
        out.push_back(engine::settings_of(lesson, run, seed).config.precision.preset);
    return out;
}

}  // namespace

QWidget* LessonColumn::makeHead(const engine::Lesson& lesson) {
    auto* head = new QWidget(page_);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, size::inside);
    row->setSpacing(size::gap);
    const auto [name, about] = titleParts(lesson);
    auto* title = makeLabel(name, nullptr, head);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setWeight(QFont::Bold);
    title->setFont(large);
    title->setWordWrap(about.isEmpty());
    row->addWidget(title, about.isEmpty() ? 1 : 0);
    auto* rest = makeLabel(about, "dim", head);
    rest->setWordWrap(true);
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
    return nullptr;  // instruments stand beside the column
}

QWidget* LessonColumn::makeRunName(const engine::Lesson& lesson, std::size_t run, QWidget* parent) {
    auto* line = new QWidget(parent);
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::gap);
    row->addWidget(
        makeRunSwatch(context_.theme, precisionsOf(lesson, model_->runs()->seed()), run, line));
    auto* label = makeLabel(QString::fromStdString(lesson.runs[run].label), nullptr, line);
    label->setTextFormat(Qt::PlainText);
    QStringList settings;
    for (const auto& setting : lesson.runs[run].settings)
        settings << QString::fromStdString(setting);
    label->setToolTip(settings.join(u'\n'));
    row->addWidget(label);
    auto* failure = makeLabel({}, "bad", line);
    failure->setTextFormat(Qt::PlainText);
    failure->setWordWrap(true);
    row->addWidget(failure, 1);
    failures_.push_back(failure);
    return line;
}

QWidget* LessonColumn::makeRuns(const engine::Lesson& lesson, QWidget* parent) {
    auto* box = new QWidget(parent);
    auto* column = new QVBoxLayout(box);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* names = new QGridLayout;
    names->setSpacing(2);
    const int side = look_.oneStep ? 2 : 1;  // names side by side
    for (std::size_t i = 0; i < lesson.runs.size(); ++i) {
        const int place = static_cast<int>(i);
        names->addWidget(makeRunName(lesson, i, box), place / side, place % side);
    }
    column->addLayout(names);
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
        knob.current = ownValue(lesson, each, model_->runs()->seed());
        out.push_back(std::move(knob));
    }
    auto* bar = new KnobBar(context_.theme, out, parent);
    connect(bar, &KnobBar::turned, model_->runs(), &LessonRuns::setKnob);
    knobs_.push_back(bar);
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

}  // namespace ui
