#pragma once

#include <QByteArray>
#include <QString>
#include <utility>
#include <vector>

#include "engine/lab/lesson.h"

class QTextDocument;

namespace ui {

/// First and last block of each part that should stay on one page.
using KeptTogether = std::vector<std::pair<int, int>>;

/// The lesson on paper: its text, its questions with boxes and blanks, and a table to fill in what
/// was predicted and measured. What follows the checks (the explanation) is left out.
KeptTogether fillWorksheet(QTextDocument& document, const engine::Lesson& lesson);
/// Begins a new page before each part that would otherwise be divided.
void breakPages(QTextDocument& document, const KeptTogether& parts);
/// The worksheet as a PDF (A4). Any thread. Throws engine::Error(io).
QByteArray worksheetPdf(const engine::Lesson& lesson);

}  // namespace ui
