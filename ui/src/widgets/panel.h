#pragma once

#include <QDockWidget>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>
#include <initializer_list>

class QAbstractItemModel;
class QTableView;

namespace ui {

class ElidedLabel;
class Theme;

/// A dock in the style of the window's panels: a head with title, a dim word and tools, and a body
/// with rounded corners. It can be hidden, moved and floated. Owns `body`.
class Panel final : public QDockWidget {
    Q_OBJECT
public:
    /// `name` identifies it in the remembered layout.
    Panel(Theme* theme, const QString& name, const QString& title, QWidget* body,
          QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setNote(const QString& note);
    /// Puts a widget into the head, left of the tools.
    void addToHead(QWidget* widget);
    /// Replaces the title and its note by a widget that takes the free width of the head.
    void fillHead(QWidget* widget);
    /// Shows a widget of fillHead(), or the title and its note again for null.
    void showHead(QWidget* widget);
    /// Adds ⤢, which asks to fill the centre, as does a double click on the head.
    void makeExpandable();
    /// The menu behind ⋯.
    QMenu* menu();
    QWidget* body() const { return body_; }

signals:
    void expandRequested();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QToolButton* tool(const QString& icon, const QString& name);
    void applyStyle();

    Theme* theme_;
    QWidget* body_;
    QWidget* head_;
    QHBoxLayout* row_;
    QLabel* title_;
    ElidedLabel* note_;
    QWidget* filling_ = nullptr;
    QList<QPair<QToolButton*, QString>> tools_;
    QMenu* menu_ = nullptr;
    bool expandable_ = false;
};

/// Paints a dim sentence into an empty list; to be called from its paint event.
void paintEmpty(QWidget* area, const Theme& theme, const QString& sentence);
/// A label in the words' dim colour ("dim", "caution", "good", "bad").
QLabel* makeLabel(const QString& text, const char* role = nullptr, QWidget* parent = nullptr);
/// A label that breaks its lines.
QLabel* makeProse(const QString& text, const char* role = nullptr, QWidget* parent = nullptr);
/// A label one step smaller.
QLabel* makeSmall(const QString& text, const char* role = nullptr, QWidget* parent = nullptr);
QLabel* makeTitle(const QString& text, const char* role = nullptr, QWidget* parent = nullptr);
/// The layout of a widget; -1: the spacing of the style.
QHBoxLayout* makeRow(QWidget* parent, const QMargins& margins = {}, int spacing = -1);
QVBoxLayout* makeColumn(QWidget* parent, const QMargins& margins = {}, int spacing = -1);
/// A layout for another one.
QHBoxLayout* makeRow(int spacing);
QVBoxLayout* makeColumn(int spacing);
/// Adds them one after the other, without stretch.
template <typename Box>
void addWidgets(Box* box, std::initializer_list<QWidget*> widgets) {
    for (QWidget* widget : widgets) box->addWidget(widget);
}
/// A frame with rounded corners.
QFrame* makeCard(QWidget* parent);
/// The widget, with the name by which style sheets and tests find it.
template <typename Widget>
Widget* withName(Widget* widget, const QString& name) {
    widget->setObjectName(name);
    return widget;
}
/// A button that looks as a link.
QToolButton* makeLink(const QString& text, QWidget* parent = nullptr);
/// Enlarges the text of all widgets within `root`, each once; call it again after adding widgets.
/// Setting a font on `root` alone has no effect on them, because of the application's style sheet.
void scaleTexts(QWidget* root, double scale);
/// Applies the style sheet anew after a property that it asks for has changed.
void restyle(QWidget* widget, const char* property, const QVariant& value);

/// A panel that is not a dock: a head with a title, a dim note and tools, and a body below.
class Card final : public QFrame {
    Q_OBJECT
public:
    explicit Card(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    /// Ends in "…" where it does not fit.
    void setNote(const QString& note);
    /// At the right end of the head.
    void addToHead(QWidget* widget);
    /// Below what is there.
    void addBody(QWidget* widget, int stretch = 0);

private:
    QHBoxLayout* head_;
    QVBoxLayout* column_;
    QLabel* title_;
    ElidedLabel* note_;
};

/// A table to read: whole rows are chosen, no cell is edited, Tab leads out of it.
QTableView* makePlainTable(const QString& name, QAbstractItemModel* model, QWidget* parent);

}  // namespace ui
