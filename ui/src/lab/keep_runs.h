#pragma once

#include <QString>
#include <string>

namespace ui {

class LessonModel;
struct Context;

/// Copies the runs of the lesson into the history, off the window's thread, and says so.
void keepRuns(const Context& context, LessonModel* model);
/// False if the file cannot be written.
bool writeText(const QString& file, const std::string& text);

}  // namespace ui
