#pragma once

#include <QWidget>
#include <array>

#include "lab/lab_page.h"

class QLabel;
class QLineEdit;
class QPushButton;

namespace ui {

class CalculatorModel;
class NumberModel;
class Segments;

/// The number playground: type a number, flip its bits, drag it, step to its neighbours, and see
/// how each format represents it. GUI thread.
class NumbersView final : public QWidget {
    Q_OBJECT
public:
    /// Without a calculator there are the bits and the number line alone.
    NumbersView(const Context& context, NumberModel* model, CalculatorModel* calculator,
                QWidget* parent = nullptr);

    QLineEdit* field() const { return field_; }

private:
    QLayout* makeField();
    QWidget* makeRanges(CalculatorModel* calculator);
    void showFormats(int group);
    QPushButton* makeNeighbour(int direction);
    void refresh();

    Context context_;
    NumberModel* model_;
    QLineEdit* field_ = nullptr;
    Segments* groups_ = nullptr;
    std::array<QWidget*, 2> tables_{}, lower_{};  // by group of formats; one of each is shown
    QPushButton* below_ = nullptr;
    QPushButton* above_ = nullptr;
    QLabel* headline_ = nullptr;
};

}  // namespace ui
