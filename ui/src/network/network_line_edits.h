#pragma once

class QPlainTextEdit;
class QTextDocument;

namespace ui {

/// Changes of whole lines of a network's text. Each is one step of undo; a text that is read only
/// stays.

/// Spaces between two levels of the text; one level alone may have been indented as a whole.
int levelStep(const QTextDocument& document);
/// Moves the selected lines by one level.
void indentLines(QPlainTextEdit& editor, bool deeper);
/// Makes the selected lines comments, or all of them code again if they are.
void toggleComment(QPlainTextEdit& editor);
/// A new line begins below the one above it, deeper behind a head.
void startLine(QPlainTextEdit& editor);

}  // namespace ui
