#pragma once

#include <QFrame>

class QLineEdit;
class QScrollBar;
class QToolButton;

namespace ui {

class ElidedLabel;
class NetworkColumns;
class NetworkDrawing;
class NetworkEditor;
class NetworkModel;
class NetworkOverview;
class Theme;

/// The text, its columns and the drawing, row beside row, moved by one scroll bar.
class NetworkSheet final : public QFrame {
    Q_OBJECT
public:
    NetworkSheet(const Theme* theme, NetworkModel* model, QWidget* parent);

    NetworkEditor* editor() const { return editor_; }
    /// Goes to the field for words to find.
    void find();
    /// The title of the button that shows the text of a run.
    static QString runTextTitle(const QString& run);

signals:
    /// The text of the run on screen is to be shown.
    void runTextWanted();
    /// The operations of this module in the traced step are asked for.
    void xrayWanted(const QString& module);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeText();
    void followScrolling();
    void showNote();
    void fitWidth();
    void findNext(bool backward);

    NetworkModel* model_;
    NetworkEditor* editor_;
    NetworkColumns* columns_;
    NetworkDrawing* drawing_;
    NetworkOverview* overview_;
    QScrollBar* bar_;
    ElidedLabel* note_ = nullptr;
    QToolButton *runText_ = nullptr, *all_ = nullptr;
    QLineEdit* find_ = nullptr;
};

}  // namespace ui
