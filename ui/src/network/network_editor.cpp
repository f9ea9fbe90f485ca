#include "network/network_editor.h"

#include <QApplication>
#include <QFontDatabase>
#include <QFontMetricsF>
#include <QHelpEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "network/network_completion.h"
#include "network/network_gutter.h"
#include "network/network_line_edits.h"
#include "network/network_model.h"
#include "network/network_popup.h"
#include "network/network_repr.h"
#include "text/format.h"
#include "text/language.h"
#include "theme/theme.h"

namespace ui {
namespace {

bool isFixed(const QFont& font) {
    const QFontMetricsF metrics(font);
    const double width = metrics.horizontalAdvance(u'W');
    return qFuzzyCompare(metrics.horizontalAdvance(u'i'), width) && qFuzzyCompare(metrics.horizontalAdvance(u' '), width);
}

/// In some languages the font that the system calls monospaced has characters of several widths.
QFont fixedFont() {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPointSizeF(QApplication::font().pointSizeF());
    if (isFixed(font)) return font;
    font.setStyleHint(QFont::Monospace);
    QString fixed;
    for (const QString& family : QStringList{u"monospace"_s} + QFontDatabase::families(QFontDatabase::Latin)) {
        if (family != u"monospace"_s && !QFontDatabase::isFixedPitch(family)) continue;
        font.setFamily(family);
        if (!isFixed(font)) continue;
        // Rows beside the text have words of the window's font.
        if (QFontMetricsF(font).lineSpacing() >= QFontMetricsF(QApplication::font()).height()) return font;
        if (fixed.isEmpty()) fixed = family;
    }
    if (!fixed.isEmpty()) font.setFamily(fixed);
    return font;
}

}  // namespace

NetworkEditor::NetworkEditor(const Theme* theme, NetworkModel* model, QWidget* parent)
    : QPlainTextEdit(parent), theme_(theme), model_(model), gutter_(new NetworkGutter(theme, model, this)), popup_(new NetworkPopup(this)) {
    setObjectName(u"networkText"_s);
    setAccessibleName(tr("Text of the network"));
    setDocument(model->document());
    setLineWrapMode(NoWrap);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(NoFrame);
    setTabChangesFocus(false);
    setReadOnly(model->isReadOnly());
    setFont(fixedFont());
    connect(model, &NetworkModel::checked, this, &NetworkEditor::showOrphans);
    connect(model, &NetworkModel::checked, this, &NetworkEditor::showChecked);
    connect(model, &NetworkModel::replaced, this, [this] { moveCursor(QTextCursor::Start); });
    connect(model, &NetworkModel::readOnlyChanged, this, [this] { setReadOnly(model_->isReadOnly()); });
    connect(theme, &Theme::changed, this, &NetworkEditor::showChecked);
    connect(this, &QPlainTextEdit::updateRequest, this, [this] {
        gutter_->update();
        emit moved();
    });
    connect(this, &QPlainTextEdit::blockCountChanged, this, &NetworkEditor::placeGutter);
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, &NetworkEditor::showChecked);
    connect(popup_, &NetworkPopup::chosen, this, &NetworkEditor::insertWord);
    placeGutter();
    showChecked();
}

void NetworkEditor::visitLines(const std::function<void(int line, const QRect& area)>& draw) const {
    for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
        if (!block.isVisible()) continue;
        const QRectF area = blockBoundingGeometry(block).translated(contentOffset());
        if (area.top() > viewport()->height()) return;
        draw(block.blockNumber() + 1, area.toRect());
    }
}

int NetworkEditor::lineAt(int y) const {
    int found = 0;
    visitLines([&](int line, const QRect& area) {
        if (y >= area.top() && y < area.top() + area.height()) found = line;
    });
    return found;
}

void NetworkEditor::goTo(int line) { goTo(engine::TextPlace{line, 1, 0}); }

void NetworkEditor::goTo(const engine::TextPlace& place) {
    const int at = model_->position(place);
    if (at < 0) return;
    QTextCursor cursor(document());
    cursor.setPosition(at);
    for (QTextBlock block = cursor.block(); block.isValid() && !block.isVisible(); block = block.previous())
        if (isFolded(block.blockNumber())) fold(block.blockNumber(), false);
    if (QTextBlock block = cursor.block(); !block.isVisible()) {
        block.setVisible(true);
        document()->markContentsDirty(block.position(), document()->characterCount() - block.position());
    }
    setTextCursor(cursor);
    ensureCursorVisible();
}

void NetworkEditor::goToFault(bool forward) {
    const auto faults = model_->faults();
    if (faults.empty()) return;
    const int here = textCursor().position();
    const engine::NetworkFault* chosen = nullptr;
    for (const auto& fault : faults) {
        const int at = model_->position(fault.place);
        if (forward && at > here) {
            chosen = &fault;
            break;
        }
        if (!forward && at < here) chosen = &fault;
    }
    if (chosen == nullptr) chosen = forward ? &faults.front() : &faults.back();
    goTo(chosen->place);
}

void NetworkEditor::replaceAtCursor() {
    for (const auto& fault : model_->faults()) {
        if (fault.place.line != currentLine() || !fault.replacement) continue;
        model_->replace(fault);
        return;
    }
}

bool NetworkEditor::isFolded(int line) const {
    const auto index = static_cast<std::size_t>(line - 1);
    const auto& lines = model_->now().lines;
    if (line < 1 || index >= lines.size() || lines[index].end < line) return false;
    const QTextBlock next = document()->findBlockByNumber(line);
    return next.isValid() && !next.isVisible();
}

void NetworkEditor::fold(int line, bool folded) {
    const auto index = static_cast<std::size_t>(line - 1);
    const auto& lines = model_->now().lines;
    if (line < 1 || index >= lines.size() || lines[index].end < line) return;
    for (QTextBlock block = document()->findBlockByNumber(line); block.isValid() && block.blockNumber() <= lines[index].end; block = block.next())
        block.setVisible(!folded);
    if (folded && !textCursor().block().isVisible()) goTo(line);
    const QTextBlock from = document()->findBlockByNumber(line - 1);
    document()->markContentsDirty(from.position(), document()->characterCount() - from.position());
    viewport()->update();
    gutter_->update();
    emit moved();
}

void NetworkEditor::showOrphans() {
    if (model_->now().text != model_->text()) return;
    const auto& lines = model_->now().lines;
    int hidden = 0;  // the last line of a folded body
    bool any = false;
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        const int line = block.blockNumber() + 1;
        if (!block.isVisible() && line > hidden) {
            block.setVisible(true);
            any = true;
        }
        if (block.isVisible() && isFolded(line)) hidden = lines[static_cast<std::size_t>(line - 1)].end + 1;
    }
    if (any) document()->markContentsDirty(0, document()->characterCount());
}

bool NetworkEditor::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride) {
        // Undo, redo and save are those of the text.
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo) || key->matches(QKeySequence::Save)) {
            event->accept();
            return true;
        }
    }
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = faultText(cursorForPosition(viewport()->mapFrom(this, help->pos())).position());
        if (text.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), text, this);
        return true;
    }
    return QPlainTextEdit::event(event);
}

/// The fault in the line of this position.
QString NetworkEditor::faultText(int position) const {
    const int line = document()->findBlock(position).blockNumber() + 1;
    for (const auto& fault : model_->now().network.faults)
        if (fault.place.line == line) return engineText(fault.text);
    return {};
}

void NetworkEditor::complete() { offer(true); }

void NetworkEditor::offer(bool asked) {
    if (isReadOnly()) return;
    const QTextCursor cursor = textCursor();
    const QString text = model_->text();
    popup_->offer(networkWords(text, networkLines(text), model_->now().network.options, cursor.blockNumber(), cursor.positionInBlock()),
                  cursorRect().translated(viewport()->pos()), asked);
}

void NetworkEditor::insertWord(const QString& word) {
    QTextCursor cursor = textCursor();
    const QString text = model_->text();
    const auto words = networkWords(text, networkLines(text), {}, cursor.blockNumber(), cursor.positionInBlock());
    cursor.setPosition(cursor.block().position() + words.from, QTextCursor::KeepAnchor);
    cursor.insertText(word);
    setTextCursor(cursor);
}

/// The editor's own commands; false for any other key.
bool NetworkEditor::pressCommand(QKeyEvent* event) {
    const bool control = event->modifiers() == Qt::ControlModifier;
    const bool folds = event->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier);
    if (control && event->key() == Qt::Key_Tab)
        QWidget::focusNextPrevChild(true);
    else if (folds && event->key() == Qt::Key_Backtab)
        QWidget::focusNextPrevChild(false);
    else if (event->key() == Qt::Key_Backtab && isReadOnly())
        QWidget::focusNextPrevChild(false);
    else if (event->key() == Qt::Key_Backtab)
        indentLines(*this, false);
    else if (event->matches(QKeySequence::Save))
        emit saveWanted();
    else if (control && event->key() == Qt::Key_Space)
        complete();
    else if (control && event->key() == Qt::Key_Slash)
        toggleComment(*this);
    else if (folds && (event->key() == Qt::Key_BracketLeft || event->key() == Qt::Key_BraceLeft))
        fold(currentLine(), true);
    else if (folds && (event->key() == Qt::Key_BracketRight || event->key() == Qt::Key_BraceRight))
        fold(currentLine(), false);
    else
        return false;
    return true;
}

void NetworkEditor::keyPressEvent(QKeyEvent* event) {
    if (popup_->isVisible() && event->modifiers() == Qt::NoModifier && popup_->press(event->key())) return;
    if (pressCommand(event)) return;
    const bool plain = event->modifiers() == Qt::NoModifier || event->modifiers() == Qt::KeypadModifier;
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (isReadOnly() && event->key() == Qt::Key_Tab) {
        QWidget::focusNextPrevChild(true);
    } else if (plain && event->key() == Qt::Key_Tab) {
        if (textCursor().hasSelection()) return indentLines(*this, true);
        const int step = levelStep(*document());
        textCursor().insertText(QString(step - textCursor().positionInBlock() % step, u' '));
    } else if (plain && enter && !isReadOnly()) {
        startLine(*this);
    } else if (enter && event->modifiers() != Qt::ShiftModifier) {
        event->ignore();  // commands of the window
    } else {
        const bool offered = popup_->isVisible();
        QPlainTextEdit::keyPressEvent(event);
        const QString typed = event->text();
        const bool word = !typed.isEmpty() && (typed.at(0).isLetterOrNumber() || typed.at(0) == u'_' || typed.at(0) == u'.');
        if (word || (offered && event->key() == Qt::Key_Backspace))
            offerWhileTyping();
        else
            popup_->hide();
    }
}

/// From the second character of a word on.
void NetworkEditor::offerWhileTyping() {
    const QString before = textCursor().block().text().left(textCursor().positionInBlock());
    const auto isWord = [&before](qsizetype at) { return at >= 0 && (before.at(at).isLetter() || before.at(at) == u'_'); };
    if (isWord(before.size() - 1) && isWord(before.size() - 2))
        offer(false);
    else
        popup_->hide();
}

void NetworkEditor::focusOutEvent(QFocusEvent* event) {
    popup_->hide();
    QPlainTextEdit::focusOutEvent(event);
}

QString NetworkEditor::runText(int line) const {
    const auto index = static_cast<std::size_t>(line - 1);
    const auto& rows = model_->now().rows.lines;
    if (index >= rows.size() || rows[index].runs < 2) return {};
    const auto& row = rows[index];
    const QString which = tr("%1 of %2").arg(count(row.run + 1), count(row.runs));
    // Without the module where that would cover the text.
    const QString all = row.around + u" · "_s + which;
    const int textEnd = fontMetrics().horizontalAdvance(document()->findBlockByNumber(line - 1).text()) + size::inside;
    const int room = viewport()->width() - textEnd - QFontMetrics(Theme::caption()).horizontalAdvance(u"‹  "_s + all + u"  ›"_s) - 3 * size::gap;
    return row.around.isEmpty() || room < 0 ? which : all;
}

QRect NetworkEditor::runArea(int line, const QRect& row) const {
    const QString text = runText(line);
    if (text.isEmpty()) return {};
    const QFontMetrics metrics(Theme::caption());
    const int width = metrics.horizontalAdvance(u"‹  "_s + text + u"  ›"_s) + 2 * size::gap;
    return {viewport()->width() - width - size::grid, row.top() + 1, width, row.height() - 2};
}

void NetworkEditor::paintEvent(QPaintEvent* event) {
    QPlainTextEdit::paintEvent(event);
    QPainter painter(viewport());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::caption());
    const Tokens& tokens = theme_->tokens();
    visitLines([&](int line, const QRect& row) {
        const QRect area = runArea(line, row);
        if (area.isEmpty()) return;
        painter.setPen(tokens.line);
        painter.setBrush(tokens.panel);
        painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), area.height() / 2.0, area.height() / 2.0);
        painter.setPen(tokens.text);
        painter.drawText(area, Qt::AlignCenter, runText(line));
        painter.setPen(tokens.dim);
        const QRect inside = area.adjusted(size::gap, 0, -size::gap, 0);
        painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, u"‹"_s);
        painter.drawText(inside, Qt::AlignRight | Qt::AlignVCenter, u"›"_s);
    });
}

void NetworkEditor::mousePressEvent(QMouseEvent* event) {
    const QPoint at = event->position().toPoint();
    int clicked = 0;
    int by = 0;
    visitLines([&](int line, const QRect& row) {
        const QRect area = runArea(line, row);
        if (!area.contains(at)) return;
        clicked = line;
        by = at.x() < area.center().x() ? -1 : 1;
    });
    if (clicked == 0) return QPlainTextEdit::mousePressEvent(event);
    const auto& row = model_->now().rows.lines[static_cast<std::size_t>(clicked - 1)];
    model_->choose(clicked, (row.run + by + row.runs) % row.runs);
}

void NetworkEditor::stepRun(int by) {
    const auto& view = model_->now();
    const auto& rows = view.rows.lines;
    for (int line = currentLine() - 1; line >= 0 && static_cast<std::size_t>(line) < rows.size(); line = view.lines[static_cast<std::size_t>(line)].head) {
        const auto& row = rows[static_cast<std::size_t>(line)];
        if (row.runs < 2) continue;
        model_->choose(line + 1, (row.run + by + row.runs) % row.runs);
        return;
    }
}

void NetworkEditor::showChecked() {
    QList<QTextEdit::ExtraSelection> marks;
    const Tokens& tokens = theme_->tokens();
    QTextEdit::ExtraSelection line;
    line.cursor = textCursor();
    line.cursor.clearSelection();
    line.format.setBackground(blend(tokens.panel, tokens.accent, 0.10));
    line.format.setProperty(QTextFormat::FullWidthSelection, true);
    marks << line;
    const auto& rows = model_->now().rows.lines;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].state != NetworkLineRow::State::leftOut) continue;
        const QTextBlock block = document()->findBlockByNumber(static_cast<int>(i));
        if (!block.isValid() || block == textCursor().block()) continue;
        QTextEdit::ExtraSelection dim;
        dim.cursor = QTextCursor(block);
        dim.cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
        dim.format.setForeground(tokens.dim);
        dim.format.setFontWeight(QFont::Normal);
        marks << dim;
    }
    for (const auto& fault : model_->now().network.faults) {
        const int from = model_->position(fault.place);
        engine::TextPlace behind = fault.place;
        behind.column += std::max(1, behind.length);
        const int to = model_->position(behind);
        if (from < 0 || to < 0) continue;
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(document());
        mark.cursor.setPosition(from);
        mark.cursor.setPosition(to, QTextCursor::KeepAnchor);
        mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        mark.format.setUnderlineColor(fault.note ? tokens.caution : tokens.bad);
        marks << mark;
    }
    setExtraSelections(marks);
    viewport()->update();  // the runs on show
    gutter_->update();
    emit moved();
}

void NetworkEditor::placeGutter() {
    setViewportMargins(gutter_->lineWidth(), 0, 0, 0);
    // Beside the text alone: a scroll bar lies below both.
    const QRect text = viewport()->geometry();
    gutter_->setGeometry(text.left() - gutter_->lineWidth(), text.top(), gutter_->lineWidth(),
                         text.height());
}

void NetworkEditor::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    placeGutter();
    emit moved();
}

void NetworkEditor::changeEvent(QEvent* event) {
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::FontChange) placeGutter();
}

bool NetworkEditor::canInsertFromMimeData(const QMimeData* source) const { return !source->hasUrls() && QPlainTextEdit::canInsertFromMimeData(source); }

void NetworkEditor::insertFromMimeData(const QMimeData* source) {
    const int position = textCursor().selectionStart();
    QPlainTextEdit::insertFromMimeData(source);
    // As it stands in the document, whose lines and spaces may not be those of the clipboard.
    const QString text = model_->text().mid(position, textCursor().position() - position);
    if (!isReadOnly() && isModuleRepr(text)) emit reprPasted(position, text);
}

void NetworkEditor::scrollContentsBy(int dx, int dy) {
    QPlainTextEdit::scrollContentsBy(dx, dy);
    gutter_->update();
    emit moved();
}

}  // namespace ui
