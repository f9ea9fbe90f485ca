#pragma once

#include <QWidget>

#include "lab/numbers/calculator_model.h"

namespace ui {

class NumberModel;
class Theme;

/// The running sum of each format in its own accumulator, over the number of terms.
class SumPlot final : public QWidget {
    Q_OBJECT
public:
    SumPlot(const Theme* theme, NumberModel* number, CalculatorModel* model,
            QWidget* parent = nullptr);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Label {
        double y;
        QColor color;
        QString text;
    };

    QRectF area() const;
    double top() const;
    void paintAxes(QPainter& painter) const;
    void paintCurve(QPainter& painter, const CalculatorModel::Row& row) const;
    void paintStall(QPainter& painter, const CalculatorModel::Row& row) const;
    void paintLabels(QPainter& painter) const;
    QPointF place(std::int64_t terms, double sum) const;

    const Theme* theme_;
    NumberModel* number_;
    CalculatorModel* model_;
};

}  // namespace ui
