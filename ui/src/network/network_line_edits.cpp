#include "network/network_line_edits.h"

#include <QPlainTextEdit>
#include <QTextBlock>
#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include "network/network_lines.h"

namespace ui {
namespace {

constexpr int usualIndent = 2;

int leadingSpaces(const QString& text) {
    int spaces = 0;
    while (spaces < text.size() && text.at(spaces) == u' ') ++spaces;
    return spaces;
}

/// Lines of the selection, without a last one in which nothing is selected.
std::pair<int, int> selectedLines(const QPlainTextEdit& editor) {
    const QTextCursor cursor = editor.textCursor();
    const QTextBlock first = editor.document()->findBlock(cursor.selectionStart());
    QTextBlock last = editor.document()->findBlock(cursor.selectionEnd());
    if (last != first && last.position() == cursor.selectionEnd()) last = last.previous();
    return {first.blockNumber(), last.blockNumber()};
}

void changeLines(QPlainTextEdit& editor, const std::function<void(QTextCursor&, const QString&)>& change) {
    if (editor.isReadOnly()) return;
    const auto [first, last] = selectedLines(editor);
    QTextCursor cursor(editor.document());
    cursor.beginEditBlock();
    for (int line = first; line <= last; ++line) {
        const QTextBlock block = editor.document()->findBlockByNumber(line);
        cursor.setPosition(block.position());
        change(cursor, block.text());
    }
    cursor.endEditBlock();
}

}  // namespace

int levelStep(const QTextDocument& document) {
    std::set<int> levels;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        if (const int spaces = leadingSpaces(block.text()); spaces > 0 && spaces < block.length() - 1) levels.insert(spaces);
    if (levels.size() < 2) return usualIndent;
    int step = *std::next(levels.begin()) - *levels.begin();
    for (auto each = std::next(levels.begin()); each != levels.end(); ++each) step = std::min(step, *each - *std::prev(each));
    return step;
}

void indentLines(QPlainTextEdit& editor, bool deeper) {
    const int step = levelStep(*editor.document());
    changeLines(editor, [deeper, step](QTextCursor& cursor, const QString& text) {
        const int spaces = leadingSpaces(text);
        if (deeper && !text.trimmed().isEmpty()) {
            cursor.insertText(QString(step, u' '));
        } else if (!deeper) {
            for (int i = std::min(spaces, step); i > 0; --i) cursor.deleteChar();
        }
    });
}

void toggleComment(QPlainTextEdit& editor) {
    const auto [first, last] = selectedLines(editor);
    bool all = true;
    for (int line = first; line <= last; ++line) {
        const QString text = editor.document()->findBlockByNumber(line).text().trimmed();
        all = all && (text.isEmpty() || text.startsWith(u'#'));
    }
    changeLines(editor, [all](QTextCursor& cursor, const QString& text) {
        const int spaces = leadingSpaces(text);
        if (spaces == text.size()) return;
        cursor.movePosition(QTextCursor::Right, QTextCursor::MoveAnchor, spaces);
        if (!all) return cursor.insertText(u"# "_s);
        cursor.deleteChar();
        if (spaces + 1 < text.size() && text.at(spaces + 1) == u' ') cursor.deleteChar();
    });
}

void startLine(QPlainTextEdit& editor) {
    QTextCursor cursor = editor.textCursor();
    const QString before = cursor.block().text().left(cursor.positionInBlock());
    int spaces = std::min(leadingSpaces(before), static_cast<int>(before.size()));
    if (withoutComment(before).trimmed().endsWith(u':')) spaces += levelStep(*editor.document());
    cursor.beginEditBlock();
    cursor.insertBlock();
    cursor.insertText(QString(spaces, u' '));
    cursor.endEditBlock();
    editor.setTextCursor(cursor);
    editor.ensureCursorVisible();
}

}  // namespace ui
