#pragma once

#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QWidget>

#include "twin/twin_model.h"
#include "view/context.h"

namespace ui {

class Card;
class CheckBox;
class ChoiceBox;
class ElidedLabel;
class LossGap;
class TwinMap;
class TwinTable;

/// When and where does AMP leave FP32? The loss gap, gradient errors by layer and step, and what a
/// resync takes away.
class TwinPage final : public QWidget {
    Q_OBJECT
public:
    explicit TwinPage(const Context& context, QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QLayout* makeBar();
    Card* makeMap();
    Card* makeTable();
    void refresh();
    void refreshVerdict();
    void start();

    Context context_;
    TwinModel* model_;
    ElidedLabel* pair_;
    QLabel* badge_;
    CheckBox* together_;
    ChoiceBox* automatic_;
    QPushButton* resync_;
    QPushButton* start_;
    QLabel* verdict_;
    Card* map_;
    Card* table_;
    QSplitter* split_;
};

}  // namespace ui
