#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/lab/lesson.h"

namespace engine {

struct LessonLine {
    int number = 0;  ///< from 1
    std::string text;
};

/// A fenced block, unparsed.
struct RawBlock {
    std::string kind;      ///< "predict"
    std::string argument;  ///< what follows it on the line
    std::vector<LessonLine> lines;
    int line = 0;                    ///< of its fence
    std::size_t step = 0, part = 0;  ///< its place in Lesson::steps
};

/// The reason why a block cannot be used.
struct LessonError {
    int line;
    Message text;
};

std::string_view stripped(std::string_view text);
/// The lines of a text without their ends.
std::vector<LessonLine> split_lines(std::string_view text);
/// Splits at blanks, except within quotes and brackets.
std::vector<std::string> split_words(std::string_view text);
/// Splits "key: rest" and trims both; nothing without a colon.
std::optional<std::pair<std::string, std::string>> split_at_colon(std::string_view text);
/// Whether expressions can use the name: letters, digits and _, no digit first, and no reserved
/// word.
bool is_lesson_name(std::string_view text);
/// The whole text as a number; nothing if it is not a number.
std::optional<double> number_in(std::string_view text);
/// "a .. b" with a below b. Throws LessonError.
std::pair<double, double> range_in(std::string_view text, int line);

/// Reads the front matter and the steps into `lesson`, with a place for each block, and returns the
/// blocks. Adds errors to Lesson::problems.
std::vector<RawBlock> read_structure(std::string_view text, Lesson& lesson);

/// Each reads one block. `lesson` holds what earlier calls have gathered: runs come first, then
/// predictions and instruments, then the blocks that name them. Throws LessonError.
LessonRuns read_runs(const RawBlock& block, const Lesson& lesson);
Prediction read_prediction(const RawBlock& block, const Lesson& lesson);
std::vector<LessonInstrument> read_instruments(const RawBlock& block, const Lesson& lesson);
std::vector<LessonPlot> read_plots(const RawBlock& block, const Lesson& lesson);
std::vector<LessonKnob> read_knobs(const RawBlock& block, const Lesson& lesson);
/// Expectations are added to `expectations`.
std::vector<LessonCheck> read_checks(const RawBlock& block, const Lesson& lesson,
                                     std::vector<LessonExpectation>& expectations);

/// Columns of the record that runs of this lesson have, metrics under their keys.
std::vector<std::string> lesson_columns(const Lesson& lesson);
/// Throws LessonError for a name that no run of the lesson has.
void require_run(const Lesson& lesson, const std::string& name, int line);
void require_column(const Lesson& lesson, const std::string& column, int line);

/// A lesson of resources/lessons as the build found it.
struct BuiltinLesson {
    std::string_view file;  ///< "underflow.zh.lesson.md"
    std::string_view text;
};
/// The lessons by the file's name. Written by embed_texts.cmake.
const std::vector<BuiltinLesson>& builtin_lesson_texts();

}  // namespace engine
