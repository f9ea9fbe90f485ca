#pragma once

#include <QLabel>
#include <QPushButton>
#include <QWidget>

#include "twin/twin_model.h"
#include "view/context.h"

namespace ui {

class Card;
class CheckBox;
class ChoiceBox;
class ElidedLabel;
class LossGap;
class SideColumns;
class TwinMap;
class TwinTable;

/// When and where does AMP leave FP32? The loss gap, gradient errors by layer and step, and the
/// effect of a resync.
class TwinPage final : public QWidget {
    Q_OBJECT
public:
    explicit TwinPage(const Context& context, QWidget* parent = nullptr);

private:
    QLayout* makeBar();
    Card* makeMap();
    Card* makeTable();
    Card* makeSinceResync();
    QWidget* makeMain();
    void refresh();
    void refreshVerdict();
    void start();
    void exportFigures();
    QString csv() const;

    Context context_;
    TwinModel* model_;
    ElidedLabel* pair_;
    CheckBox* together_;
    ChoiceBox* automatic_;
    QPushButton* resync_;
    QPushButton* start_;
    QPushButton* export_;
    QLabel* verdict_;
    Card* map_;
    Card* table_;
    SideColumns* columns_;
};

}  // namespace ui
