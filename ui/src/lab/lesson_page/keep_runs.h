#pragma once

namespace ui {

class LessonModel;
struct Context;

/// Copies the runs of the lesson into the history, off the window's thread, and says so.
void keepRuns(const Context& context, LessonModel* model);

}  // namespace ui
