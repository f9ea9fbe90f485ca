#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/lab/lesson_expression.h"

namespace engine {

/// An answer to a prediction: the key of a choice, a number, or a curve's values at evenly spaced
/// steps from Prediction::low to Prediction::high.
using LessonAnswer = std::variant<std::string, double, std::vector<double>>;

/// How far a learner is in one lesson.
struct LessonProgress {
    int steps_read = 0;  ///< steps of the lesson that were shown
    int steps = 0;       ///< that it has
    bool finished = false;
    std::int64_t seed = 1;
    std::string when{};                                 ///< last change, local time, ISO 8601
    std::map<std::string, LessonAnswer> predictions{};  ///< by id
    std::map<std::string, std::optional<LessonValue>> measured{};  ///< by id of the check
};

/// A learner's progress and answers: one small JSON file.
struct LearnerAnswers {
    std::string learner{};                            ///< a name, may be empty
    std::map<std::string, LessonProgress> lessons{};  ///< by Lesson::name
};

/// $XDG_DATA_HOME/halftone/lab.json, else ~/.local/share/halftone/lab.json.
std::filesystem::path default_answers_file();
std::string to_json(const LearnerAnswers& answers);
/// Throws Error(data) for text that is no such file.
LearnerAnswers parse_answers(std::string_view json);
/// Nothing is lost where the file is absent: empty answers. Throws Error(data), Error(io).
LearnerAnswers read_answers(const std::filesystem::path& file);
void write_answers(const std::filesystem::path& file, const LearnerAnswers& answers);
/// Writes the answers into the folder of a class, under the learner's name: LEARNER.json, or
/// LEARNER-2.json and so on where another learner has that file. Returns the file. Throws
/// Error(settings) without a name, Error(data), Error(io).
std::filesystem::path hand_in_answers(const std::filesystem::path& folder,
                                      const LearnerAnswers& answers);

/// The answers of a class.
struct ClassAnswers {
    struct Row {
        std::string learner;
        std::string file;
        std::string lesson;
        std::string prediction;
        std::optional<LessonAnswer> answer;
        std::optional<LessonValue> measured;
    };
    int learners = 0;
    std::vector<Row> rows{};  ///< by lesson, prediction, learner
    std::vector<std::pair<std::string, std::string>> unreadable{};  ///< file and reason
};
/// Reads all *.json of a folder. Throws Error(data) if there is no such folder.
ClassAnswers collect_answers(const std::filesystem::path& folder);
/// A class's answers to one prediction of a lesson.
struct PredictionSummary {
    std::string lesson;
    std::string prediction;
    int answers = 0;
    std::string predicted;  ///< "early 3, late 7", or the least, largest and median number
    std::string measured;   ///< "-" if it was not
};
/// Summarizes the answers by lesson and prediction.
std::vector<PredictionSummary> summarize_answers(const ClassAnswers& answers);
/// A table for a terminal: for each lesson and prediction how many made each choice, or the least,
/// median and largest number, beside the measured result.
std::string answers_table(const ClassAnswers& answers);
/// Texts are written as csv_cell() does.
std::string answers_csv(const ClassAnswers& answers, bool raw = false);
std::string answers_json(const ClassAnswers& answers);

}  // namespace engine
