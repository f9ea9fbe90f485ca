#pragma once

#include "engine/lab/lesson.h"
#include "lab/lesson_text.h"

namespace engine {

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

}  // namespace engine
