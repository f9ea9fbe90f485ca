#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>
#include <QWidget>

#include "view/context.h"
#include "xray/op_tree.h"
#include "xray/xray_model.h"

class QButtonGroup;

namespace ui {

class Card;
class ElidedLabel;

/// Why did this operation run in this type, and what did it cost? Every operation of a step with
/// its types, the rule that decided, casts and time; and what forcing another type would change.
class XrayPage final : public QWidget {
    Q_OBJECT
public:
    explicit XrayPage(const Context& context, QWidget* parent = nullptr);

private:
    QLayout* makeBar();
    QWidget* makeTotals();
    QWidget* makeTable();
    QWidget* makeExperiment();
    QLayout* makeFilter();
    void showTrace();
    void showTotals();
    void showExperiment();
    void refreshState();
    void openMenu(const QPoint& at);
    void addForces(QMenu* menu, const std::string& key, const QString& title);
    void reveal(const engine::XrayOp* op);

    Context context_;
    XrayModel* model_;
    OpTree* tree_;
    QPushButton* trace_;
    ElidedLabel* state_;
    std::array<ElidedLabel*, 5> totals_{};
    std::array<ElidedLabel*, 5> notes_{};
    QWidget* experiment_ = nullptr;
    QLabel* conclusion_ = nullptr;
    QLineEdit* filter_ = nullptr;
    QButtonGroup* rules_ = nullptr;
    QTreeView* view_ = nullptr;
};

}  // namespace ui
