#pragma once

#include <QString>

#include "engine/lesson.h"

class QTextDocument;

namespace ui {

/// The lesson on paper: its text, its questions with boxes and blanks, and a table to fill in what
/// was predicted and measured. What follows the checks (the explanation) is left out.
void fillWorksheet(QTextDocument& document, const engine::Lesson& lesson);
/// The same as a PDF (A4). False if the file cannot be written.
bool writeWorksheet(const engine::Lesson& lesson, const QString& file);

}  // namespace ui
