#pragma once

#include "lab/numbers/calculator_model.h"
#include "widgets/painted_widget.h"

namespace ui {

class NumberModel;

/// The calculator's results, a row a format; a click selects the format for the whole view.
class CalculatorTable final : public PaintedWidget {
    Q_OBJECT
public:
    CalculatorTable(const Theme* theme, NumberModel* number, CalculatorModel* model,
                    QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    /// The texts of a row, column by column, the format's name first.
    QStringList texts(const CalculatorModel::Row& row) const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    QStringList titles() const;
    QColor colorOf(const CalculatorModel::Row& row, int column) const;
    int rowHeight() const;

    NumberModel* number_;
    CalculatorModel* model_;
};

/// Colour of a format's name and curve.
QColor formatColor(const Theme& theme, const engine::NumberFormat& format);

}  // namespace ui
