#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/lab/lesson_expression.h"

namespace engine {

/// An answer to a prediction: the key of a choice, a number, or a curve's values at evenly spaced
/// steps from Prediction::low to Prediction::high.
using LessonAnswer = std::variant<std::string, double, std::vector<double>>;

/// How far a learner is in one lesson.
struct LessonProgress {
    int steps_read = 0;  ///< number of steps that were shown
    int steps = 0;       ///< number of steps in the lesson
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
/// Returns empty answers if there is no such file. Throws Error(data), Error(io).
LearnerAnswers read_answers(const std::filesystem::path& file);
void write_answers(const std::filesystem::path& file, const LearnerAnswers& answers);
/// Writes the answers into the folder of a class as LEARNER.json, or as LEARNER-2.json and so on if
/// that name is another learner's. Returns the file. Throws Error(settings) if the answers have no
/// name, Error(data), Error(io).
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
    std::string measured;   ///< "-" if nobody measured it
};
/// Summarizes the answers by lesson and prediction.
std::vector<PredictionSummary> summarize_answers(const ClassAnswers& answers);
/// A table for a terminal with one row per prediction: how many made each choice, or the least,
/// median and largest number, and the measured result.
std::string answers_table(const ClassAnswers& answers);
/// One row per answer. Texts are escaped by csv_cell(); `raw` keeps them as they are.
std::string answers_csv(const ClassAnswers& answers, bool raw = false);
std::string answers_json(const ClassAnswers& answers);

}  // namespace engine
