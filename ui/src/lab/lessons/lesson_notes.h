#pragma once

#include <QList>
#include <QPointF>
#include <QString>
#include <filesystem>
#include <limits>
#include <map>
#include <vector>

#include "engine/lab/lesson_answers.h"
#include "engine/lab/lesson_results.h"

namespace ui {

/// A question of a lesson before its run.
struct Question {
    enum class Kind { choice, number, range, curve };
    struct Choice {
        QString key;
        QString text;
    };
    QString id;
    QString text;
    Kind kind = Kind::choice;
    std::vector<Choice> choices;  ///< of a choice
    double low = 0, high = 1;     ///< of a range; of a curve its x axis, in steps
    double yLow = 0, yHigh = 1;   ///< of a curve
    bool yLog = false;            ///< its heights are powers of two
    QString unit;                 ///< of a number; may be empty
    QString column;               ///< of a curve: what is drawn
    QString note;                 ///< beside the answer; may be empty
    QString hint;                 ///< after a wrong prediction; may be empty
};

/// Answer of the learner.
struct Guess {
    QString key;                                               ///< of a choice
    double number = std::numeric_limits<double>::quiet_NaN();  ///< of a number or range
    QList<QPointF> curve;                                      ///< step and value, by step
    std::map<QString, int> hands;  ///< of a choice in a class: hands counted for each key

    /// Nothing was answered yet.
    bool empty() const { return key.isEmpty() && !(number == number) && curve.isEmpty(); }
    /// Two that hold no number are equal in it.
    bool operator==(const Guess& other) const {
        const bool none = !(number == number) && !(other.number == other.number);
        return key == other.key && (none || number == other.number) && curve == other.curve &&
               hands == other.hands;
    }
};

/// A learner's progress and answers, in one JSON file that is written after each change. An
/// unreadable file is left unchanged, and nothing is written then. GUI thread.
class LessonNotes final {
public:
    explicit LessonNotes(std::filesystem::path file = engine::default_answers_file());

    const engine::LearnerAnswers& answers() const { return answers_; }
    /// The name under which the answers are handed in.
    void setLearner(const QString& name);
    /// Why the file cannot be read or written; empty: it can.
    const engine::Message& problem() const { return problem_; }
    /// The share of the lesson's steps that were read, in [0, 1].
    double progress(const QString& lesson) const;
    Guess guess(const QString& lesson, const Question& question) const;
    void setGuess(const QString& lesson, const Question& question, const Guess& guess);
    /// The learner has come to step `read` of `steps`.
    void setRead(const QString& lesson, int read, int steps);
    void setMeasured(const QString& lesson, const std::vector<engine::CheckResult>& checks,
                     bool finished);
    /// Forgets what was answered in a lesson.
    void reset(const QString& lesson);

private:
    engine::LessonProgress& at(const QString& lesson);
    void save();

    std::filesystem::path file_;
    engine::LearnerAnswers answers_;
    engine::Message problem_;
    bool readable_ = true;
};

/// The question of a prediction.
Question questionOf(const engine::Prediction& prediction);
/// Nothing was answered: nothing.
std::optional<engine::LessonAnswer> answerOf(const Question& question, const Guess& guess);
/// As the page shows it: a choice's words, a number with its unit.
QString written(const Question& question, const Guess& guess);
/// Text of a measured value.
QString written(const Question& question, const std::optional<engine::LessonValue>& value);

}  // namespace ui
