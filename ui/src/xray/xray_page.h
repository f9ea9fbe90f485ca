#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QStackedWidget>
#include <QTreeView>
#include <QWidget>

#include "view/context.h"
#include "xray/difference_table.h"
#include "xray/op_tree.h"
#include "xray/xray_model.h"

class QButtonGroup;

namespace ui {

class ElidedLabel;
class OpView;
class SearchDialog;
class Timeline;

/// Why did this operation run in this type, and what did it cost? Every operation of a step with
/// its types, the rule that decided, casts and time; the same step in another precision; and the
/// effect of forcing another type.
class XrayPage final : public QWidget {
    Q_OBJECT
public:
    explicit XrayPage(const Context& context, QWidget* parent = nullptr);

    /// The CSV that Ctrl+E writes.
    engine::Table table() const;

protected:
    void showEvent(QShowEvent* event) override;
    /// A trace ends with the page: the run waits for it.
    void hideEvent(QHideEvent* event) override;

private:
    QLayout* makeBar();
    QWidget* makeViews();
    QWidget* makeTimeline();
    QWidget* makeTable();
    QLayout* makeFilter();
    void applyFilter();
    void countRules();
    void showTrace();
    void showTried();
    /// Scrolls to the operations of the layer that was chosen on another page.
    void showLayer();
    void markChips();
    void refreshState();
    QString stateText() const;
    void openSearch();
    void exportFigures();

    Context context_;
    XrayModel* model_;
    OpTree* tree_;
    DifferenceTable* differences_;
    OpFilter filterBy_;
    QPushButton* trace_ = nullptr;
    QPushButton* search_ = nullptr;
    QPushButton* export_ = nullptr;
    ElidedLabel* state_ = nullptr;
    QButtonGroup* views_ = nullptr;
    Timeline* timeline_ = nullptr;
    QLineEdit* filter_ = nullptr;
    QButtonGroup* rules_ = nullptr;
    QStackedWidget* tables_ = nullptr;
    QLabel* empty_ = nullptr;  ///< of tables_, before a step was traced
    OpView* view_ = nullptr;
    QTreeView* differenceView_ = nullptr;
    QPointer<SearchDialog> dialog_;
};

}  // namespace ui
