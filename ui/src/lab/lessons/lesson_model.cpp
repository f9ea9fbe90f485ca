#include "lab/lessons/lesson_model.h"

#include <QSettings>
#include <algorithm>
#include <cmath>
#include <utility>

#include "commands/commands.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "text/language.h"

namespace ui {
namespace {

template <typename Part>
int stepWith(const engine::Lesson& lesson) {
    for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
        const auto& parts = lesson.steps[i].parts;
        if (std::ranges::any_of(
                parts, [](const auto& part) { return std::holds_alternative<Part>(part); }))
            return static_cast<int>(i);
    }
    return -1;
}

bool isNan(const std::optional<engine::LessonValue>& value) {
    const auto* number = value ? std::get_if<double>(&*value) : nullptr;
    return number != nullptr && std::isnan(*number);
}

/// Whether the check can be seen in a plot, since it reads a column of a run.
bool readsColumn(const engine::Lesson& lesson, const engine::LessonCheck& check) {
    std::string text = check.value ? check.value->text() : std::string();
    for (const auto& each : check.cases) text += ' ' + each.condition.text();
    return std::ranges::any_of(lesson.plots, [&](const engine::LessonPlot& plot) {
        return text.find('.' + plot.column) != std::string::npos;
    });
}

/// "659 steps too early", "0.012 too high".
QString difference(double said, double measured, bool step, const QString& unit) {
    const double off = std::abs(said - measured);
    if (step)
        return said < measured ? LessonModel::tr("%1 steps too early").arg(count(std::llround(off)))
                               : LessonModel::tr("%1 steps too late").arg(count(std::llround(off)));
    const QString figure = unit.isEmpty() ? plainText(off) : plainText(off) + u' ' + unit;
    return said < measured ? LessonModel::tr("%1 too low").arg(figure)
                           : LessonModel::tr("%1 too high").arg(figure);
}

}  // namespace

LessonModel::LessonModel(const Context& context, QObject* parent,
                         const std::filesystem::path& answers)
    : QObject(parent),
      context_(context),
      shelf_(contentLanguage(*context.language)),
      notes_(answers),
      runs_(context.commands) {
    connect(&shelf_, &LessonShelf::fileChanged, this, &LessonModel::fileChanged);
    connect(&runs_, &LessonRuns::measured, this, &LessonModel::keepMeasured);
    connect(&runs_, &LessonRuns::failed, this,
            [this](const engine::Message& problem, const engine::Message& hint) {
                report(engine::Error(engine::ErrorCode::training, problem, hint));
            });
    connect(context.language, &Language::changed, this, &LessonModel::retranslate);
    if (!notes_.problem().empty()) report(engine::Error(engine::ErrorCode::data, notes_.problem()));
    const auto all = shelf_.entries();
    const QString last = QSettings().value(u"lab/lesson"_s).toString();
    if (shelf_.find(last) != nullptr)
        show(last);
    else if (!all.empty())
        show(all.front().name);
}

void LessonModel::report(const engine::Error& error) { context_.commands->report(error); }

std::vector<LessonEntry> LessonModel::entries() const {
    auto out = shelf_.entries();
    for (auto& entry : out) entry.progress = notes_.progress(entry.name);
    return out;
}

void LessonModel::openLesson(const QString& name) {
    if (name == name_ || shelf_.find(name) == nullptr) return;
    show(name);
    QSettings().setValue(u"lab/lesson"_s, name);
}

void LessonModel::show(const QString& name) {
    name_ = name;
    const engine::Lesson* found = shelf_.find(name);
    lesson_ = found != nullptr ? std::make_shared<engine::Lesson>(*found) : nullptr;
    runs_.setLesson(lesson_);
    shelf_.watch(name);
    updateLock();
    emit lessonChanged();
    runs_.announce();
    emit listChanged();
}

void LessonModel::retranslate() {
    shelf_.setLanguage(contentLanguage(*context_.language));
    const engine::Lesson* found = shelf_.find(name_);
    if (found == nullptr || lesson_ == nullptr) return;
    if (found->runs.size() != lesson_->runs.size()) return show(name_);
    former_ = std::exchange(lesson_, std::make_shared<engine::Lesson>(*found));
    runs_.setWords(lesson_);
    updateLock();
}

void LessonModel::openPath(const QString& path) {
    try {
        const QString first = shelf_.open(path);
        emit listChanged();
        if (!first.isEmpty()) show(first);
    } catch (const engine::Error& error) {
        report(error);
    }
}

void LessonModel::reload() {
    try {
        shelf_.reload(name_);
        show(name_);
    } catch (const engine::Error& error) {
        report(error);
    }
}

void LessonModel::reset() {
    hands_.erase(name_);
    notes_.reset(name_);
    runs_.reset();
    updateLock();
    emit answersChanged();
    emit listChanged();
}

std::vector<Question> LessonModel::questions() const {
    std::vector<Question> out;
    if (lesson_ == nullptr) return out;
    for (const auto& prediction : lesson_->predictions) out.push_back(questionOf(prediction));
    return out;
}

Guess LessonModel::guess(const QString& id) const {
    const auto* prediction =
        lesson_ ? engine::find_prediction(*lesson_, id.toStdString()) : nullptr;
    if (prediction == nullptr) return {};
    Guess out = notes_.guess(name_, questionOf(*prediction));
    const auto counted = hands_.find(name_);
    if (counted != hands_.end() && counted->second.contains(id)) out.hands = counted->second.at(id);
    return out;
}

std::map<QString, Guess> LessonModel::guesses() const {
    std::map<QString, Guess> out;
    for (const auto& question : questions()) out[question.id] = guess(question.id);
    return out;
}

void LessonModel::setGuess(const Question& question, const Guess& guess) {
    if (locked()) return;
    notes_.setGuess(name_, question, guess);
    if (!guess.hands.empty()) hands_[name_][question.id] = guess.hands;
    reach(currentStep());
    updateLock();
    emit answersChanged();
}

bool LessonModel::predicted() const {
    return std::ranges::none_of(guesses(), [](const auto& each) { return each.second.empty(); });
}

void LessonModel::updateLock() {
    const bool broken = lesson_ && !lesson_->problems.empty();
    runs_.setLock(broken         ? tr("The lesson's file has errors.")
                  : !predicted() ? tr("Predict first: answer the questions of the lesson.")
                                 : QString());
}

int LessonModel::currentStep() const {
    if (lesson_ == nullptr || lesson_->steps.empty()) return 0;
    const int run = runStep();
    if (ended()) return std::min(firstClosedStep(), static_cast<int>(lesson_->steps.size()) - 1);
    if (locked() || predicted())
        return run > 0 ? run : std::max(0, stepWith<std::vector<engine::LessonCheck>>(*lesson_));
    return std::max(0, stepWith<engine::Prediction>(*lesson_));
}

int LessonModel::runStep() const {
    return lesson_ == nullptr ? 0 : std::max(0, stepWith<engine::LessonRuns>(*lesson_));
}

int LessonModel::firstClosedStep() const {
    if (lesson_ == nullptr) return 0;
    const int run = stepWith<engine::LessonRuns>(*lesson_);
    const int check = stepWith<std::vector<engine::LessonCheck>>(*lesson_);
    return std::max(run, check) < 0 ? static_cast<int>(lesson_->steps.size())
                                    : std::max(run, check) + 1;
}

void LessonModel::reach(int step) {
    if (lesson_) notes_.setRead(name_, step, static_cast<int>(lesson_->steps.size()));
}

void LessonModel::keepMeasured() {
    if (ended() && lesson_ && !runs_.stopped()) {
        notes_.setMeasured(name_, runs_.snapshot().checks, true);
        emit listChanged();
    }
}

std::vector<CheckRow> LessonModel::checkRows() const {
    std::vector<CheckRow> rows;
    if (lesson_ == nullptr) return rows;
    for (const auto& check : lesson_->checks) rows.push_back(rowOf(check));
    return rows;
}

CheckRow LessonModel::rowOf(const engine::LessonCheck& check) const {
    CheckRow row;
    row.id = QString::fromStdString(check.id);
    const auto* prediction = engine::find_prediction(*lesson_, check.id);
    Question question;
    if (prediction != nullptr) question = questionOf(*prediction);
    row.question = prediction != nullptr  ? question.text
                   : !check.label.empty() ? QString::fromStdString(check.label)
                                          : QString(row.id).replace(u'_', u' ');
    const Guess said = prediction != nullptr ? notes_.guess(name_, question) : Guess{};
    row.said = prediction != nullptr ? written(question, said) : QString();
    const auto& results = runs_.snapshot().checks;
    const auto at = std::ranges::find(results, check.id, &engine::CheckResult::id);
    const bool some = locked() && at != results.end();
    row.final_ = some && (at->final || ended());
    // A mean over too few steps so far is not "never".
    if (some && (row.final_ || !isNan(at->value))) row.measured = written(question, at->value);
    if (!row.final_) {
        if (locked() && runs_.plannedSteps() > 0 && !check.cases.empty())
            row.verdict = tr("decided at step %1").arg(count(runs_.plannedSteps()));
        return row;
    }
    const bool step = check.value && check.value->text().starts_with("first");
    const auto* number = at->value ? std::get_if<double>(&*at->value) : nullptr;
    if (prediction == nullptr) {
        row.right = true;
        row.verdict = u" "_s;
        return row;
    }
    const auto answer = answerOf(question, said);
    const auto right = answer ? engine::is_right(*prediction, *answer, at->value) : std::nullopt;
    row.right = right.value_or(false);
    if (number != nullptr && !std::isnan(said.number))
        row.verdict = std::isnan(*number) ? tr("it did not happen")
                      : said.number == *number
                          ? QString()
                          : difference(said.number, *number, step, question.unit);
    else if (!row.right)
        row.verdict = tr("not as you said");
    row.hint = question.hint;
    if (step && number != nullptr && std::isfinite(*number)) {
        row.step = std::llround(*number);
    } else if (readsColumn(*lesson_, check)) {
        for (const auto& track : runs_.tracks()) row.step = std::max(row.step, track->rows());
    }
    return row;
}

}  // namespace ui
