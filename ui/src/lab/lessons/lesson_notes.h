#pragma once

#include <QString>
#include <filesystem>

#include "engine/lab/lesson_answers.h"
#include "engine/lab/lesson_results.h"
#include "lab/lessons/prediction.h"

namespace ui {

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
    /// In [0, 1].
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
