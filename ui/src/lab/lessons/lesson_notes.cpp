#include "lab/lessons/lesson_notes.h"

#include <QDateTime>
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"

namespace ui {
namespace {

constexpr int noteCurvePoints = 65;

/// Values at evenly spaced steps: linear between two points of the drawn curve, constant beyond its
/// ends.
std::vector<double> sampled(const Question& question, const QList<QPointF>& curve) {
    std::vector<double> out;
    for (int i = 0; i < noteCurvePoints; ++i) {
        const double x = question.low + (question.high - question.low) * i / (noteCurvePoints - 1);
        const auto after =
            std::ranges::find_if(curve, [x](const QPointF& p) { return p.x() >= x; });
        if (after == curve.begin()) {
            out.push_back(after->y());
        } else if (after == curve.end()) {
            out.push_back(curve.last().y());
        } else {
            const QPointF& before = *(after - 1);
            const double part = (x - before.x()) / std::max(1e-9, after->x() - before.x());
            out.push_back(before.y() + part * (after->y() - before.y()));
        }
    }
    return out;
}

}  // namespace

LessonNotes::LessonNotes(std::filesystem::path file) : file_(std::move(file)) {
    try {
        answers_ = engine::read_answers(file_);
    } catch (const engine::Error& error) {
        problem_ = error.message();
        readable_ = false;
    }
}

engine::LessonProgress& LessonNotes::at(const QString& lesson) {
    return answers_.lessons[lesson.toStdString()];
}

void LessonNotes::save() {
    if (!readable_) return;
    try {
        engine::write_answers(file_, answers_);
        problem_ = {};
    } catch (const engine::Error& error) {
        problem_ = error.message();
    }
}

void LessonNotes::setLearner(const QString& name) {
    answers_.learner = name.toStdString();
    save();
}

double LessonNotes::progress(const QString& lesson) const {
    const auto found = answers_.lessons.find(lesson.toStdString());
    if (found == answers_.lessons.end()) return 0;
    if (found->second.finished) return 1;
    const int steps = std::max(1, found->second.steps);
    return std::min(0.95, double(found->second.steps_read) / steps);
}

Guess LessonNotes::guess(const QString& lesson, const Question& question) const {
    Guess out;
    const auto found = answers_.lessons.find(lesson.toStdString());
    if (found == answers_.lessons.end()) return out;
    const auto& predictions = found->second.predictions;
    const auto answer = predictions.find(question.id.toStdString());
    if (answer == predictions.end()) return out;
    if (const auto* key = std::get_if<std::string>(&answer->second)) {
        out.key = QString::fromStdString(*key);
    } else if (const auto* number = std::get_if<double>(&answer->second)) {
        out.number = *number;
    } else {
        const auto& values = std::get<std::vector<double>>(answer->second);
        const double last = std::max<double>(1, static_cast<double>(values.size()) - 1);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double share = static_cast<double>(i) / last;
            out.curve << QPointF(question.low + (question.high - question.low) * share, values[i]);
        }
    }
    return out;
}

void LessonNotes::setGuess(const QString& lesson, const Question& question, const Guess& guess) {
    auto& predictions = at(lesson).predictions;
    const auto answer = answerOf(question, guess);
    if (answer)
        predictions[question.id.toStdString()] = *answer;
    else
        predictions.erase(question.id.toStdString());
    at(lesson).when = QDateTime::currentDateTime().toString(Qt::ISODate).toStdString();
    save();
}

void LessonNotes::setRead(const QString& lesson, int read, int steps) {
    auto& progress = at(lesson);
    if (read <= progress.steps_read && steps == progress.steps) return;
    progress.steps_read = std::max(progress.steps_read, read);
    progress.steps = steps;
    save();
}

void LessonNotes::setMeasured(const QString& lesson, const std::vector<engine::CheckResult>& checks,
                              bool finished) {
    auto& progress = at(lesson);
    for (const auto& check : checks) {
        if (check.final) progress.measured[check.id] = check.value;
    }
    progress.finished = progress.finished || finished;
    progress.when = QDateTime::currentDateTime().toString(Qt::ISODate).toStdString();
    save();
}

void LessonNotes::reset(const QString& lesson) {
    answers_.lessons.erase(lesson.toStdString());
    save();
}

Question questionOf(const engine::Prediction& prediction) {
    Question out;
    out.id = QString::fromStdString(prediction.id);
    out.text = QString::fromStdString(prediction.question);
    out.kind = static_cast<Question::Kind>(prediction.kind);
    for (const auto& choice : prediction.choices)
        out.choices.push_back(
            {QString::fromStdString(choice.key), QString::fromStdString(choice.text)});
    out.low = prediction.low;
    out.high = prediction.high;
    out.unit = QString::fromStdString(prediction.unit);
    out.column = QString::fromStdString(prediction.column);
    out.note = QString::fromStdString(prediction.note);
    out.hint = QString::fromStdString(prediction.hint);
    out.yLog = out.column == u"loss_scale"_s;
    if (prediction.top > prediction.bottom) {
        out.yLow = prediction.bottom;
        out.yHigh = prediction.top;
    } else if (out.yLog) {
        out.yLow = 1;
        out.yHigh = 0x1p24;
    } else if (out.column == u"loss"_s) {
        out.yHigh = 2;
    }
    out.yLog = out.yLog && out.yLow > 0;
    return out;
}

std::optional<engine::LessonAnswer> answerOf(const Question& question, const Guess& guess) {
    if (guess.empty()) return std::nullopt;
    switch (question.kind) {
        case Question::Kind::choice:
            return guess.key.toStdString();
        case Question::Kind::number:
        case Question::Kind::range:
            return guess.number;
        case Question::Kind::curve:
            break;
    }
    return sampled(question, guess.curve);
}

namespace {

QString withUnit(double value, const QString& unit) {
    return unit.isEmpty() ? plainText(value) : plainText(value) + u' ' + unit;
}

QString choiceText(const Question& question, const QString& key) {
    const auto at = std::ranges::find(question.choices, key, &Question::Choice::key);
    return at == question.choices.end() ? key : at->text;
}

/// A word that an instrument measured: a type, or the cause of a skip.
QString measuredWord(const QString& word) {
    const std::map<QString, QString> causes{
        {u"bad_input"_s, QCoreApplication::translate("LessonNotes", "bad input")},
        {u"damaged_state"_s, QCoreApplication::translate("LessonNotes", "damaged state")},
        {u"scale_too_large"_s, QCoreApplication::translate("LessonNotes", "scale too large")},
        {u"none"_s, QCoreApplication::translate("LessonNotes", "none")}};
    const auto cause = causes.find(word);
    if (cause != causes.end()) return cause->second;
    const bool type = word.startsWith(u"fp"_s) || word.startsWith(u"bf"_s);
    return type ? word.toUpper() : QString(word).replace(u'_', u' ');
}

}  // namespace

QString written(const Question& question, const Guess& guess) {
    if (guess.empty()) return unmeasured();
    switch (question.kind) {
        case Question::Kind::choice:
            return choiceText(question, guess.key);
        case Question::Kind::number:
        case Question::Kind::range:
            return withUnit(guess.number, question.unit);
        case Question::Kind::curve:
            break;
    }
    return QCoreApplication::translate("LessonNotes", "a curve");
}

QString written(const Question& question, const std::optional<engine::LessonValue>& value) {
    if (!value) return {};
    if (const auto* word = std::get_if<std::string>(&*value)) {
        const QString text = QString::fromStdString(*word);
        return question.choices.empty() ? measuredWord(text) : choiceText(question, text);
    }
    if (const auto* number = std::get_if<double>(&*value))
        return std::isnan(*number) ? QCoreApplication::translate("LessonNotes", "never")
                                   : withUnit(*number, question.unit);
    return QCoreApplication::translate("LessonNotes", "see the plot");
}

}  // namespace ui
