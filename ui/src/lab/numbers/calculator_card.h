#pragma once

#include <QFrame>

#include "view/context.h"

class QHBoxLayout;
class QLabel;
class QLineEdit;

namespace ui {

class CalculatorModel;
class CalculatorTable;
class ChoiceBox;
class NumberModel;
class Segments;
class SumPlot;

/// The calculator: operation and operands, results in each format, and the running sum.
class CalculatorCard final : public QFrame {
    Q_OBJECT
public:
    CalculatorCard(const Context& context, NumberModel* number, CalculatorModel* model,
                   QWidget* parent = nullptr);

private:
    QLayout* makeHead();
    QLineEdit* addField(QHBoxLayout* row, QLabel*& label, int letters);
    void refresh();

    Context context_;
    CalculatorModel* model_;
    Segments* operations_ = nullptr;
    QLabel* firstLabel_ = nullptr;
    QLabel* secondLabel_ = nullptr;
    QLineEdit* first_ = nullptr;
    QLineEdit* second_ = nullptr;
    ChoiceBox* accumulator_ = nullptr;
    QLabel* exact_ = nullptr;
    CalculatorTable* table_;
    SumPlot* plot_;
};

}  // namespace ui
