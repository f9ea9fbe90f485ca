#pragma once

#include <QPlainTextEdit>
#include <QTextBlock>
#include <functional>

#include "engine/network/network.h"

namespace ui {

class NetworkGutter;
class NetworkModel;
class NetworkPopup;
class Theme;

/// The text of a network with its line numbers, faults and folded bodies. Tab indents, Ctrl+Tab
/// leaves. It does not scroll by itself: the sheet's scroll bar moves text, columns and drawing
/// together. GUI thread.
class NetworkEditor final : public QPlainTextEdit {
    Q_OBJECT
public:
    NetworkEditor(const Theme* theme, NetworkModel* model, QWidget* parent);

    /// Calls `draw` for each line in view: its number from 1 and its area, whose left and width are
    /// those of the text.
    void visitLines(const std::function<void(int line, const QRect& area)>& draw) const;
    /// The line at a height of the viewport, from 1; 0: none.
    int lineAt(int y) const;
    /// The line with the cursor, from 1.
    int currentLine() const { return textCursor().blockNumber() + 1; }
    void goTo(int line);
    void goTo(const engine::TextPlace& place);
    /// The next fault behind the cursor, or before it; the first again after the last.
    void goToFault(bool forward);
    /// Puts the replacement of the fault at the cursor's line into the text.
    void replaceAtCursor();

    /// Hides the body of the line, or shows it again.
    void fold(int line, bool folded);
    bool isFolded(int line) const;

    /// Shows the next run of the block or repeat around the cursor, or the one before.
    void stepRun(int by);

    /// Lists what fits at the cursor.
    void complete();

signals:
    /// Ctrl+S.
    void saveWanted();
    /// A model that PyTorch printed was pasted; it begins at this position.
    void reprPasted(int position, const QString& text);
    /// Lines have moved in the viewport, or others are in view.
    void moved();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    /// Files that are dropped are the window's.
    bool canInsertFromMimeData(const QMimeData* source) const override;
    void insertFromMimeData(const QMimeData* source) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    void showChecked();
    void placeGutter();
    void insertWord(const QString& word);
    void offerWhileTyping();
    void offer(bool asked);
    /// Shows lines whose head no longer hides them.
    void showOrphans();
    bool pressCommand(QKeyEvent* event);
    QString faultText(int position) const;
    /// "‹ layer2.0 · 3 of 8 ›" of a head with several runs, and where it stands in the viewport.
    QString runText(int line) const;
    QRect runArea(int line, const QRect& row) const;

    const Theme* theme_;
    NetworkModel* model_;
    NetworkGutter* gutter_;
    NetworkPopup* popup_;
};

}  // namespace ui
