#pragma once

#include <QColor>
#include <QPointF>
#include <QString>
#include <vector>

#include "widgets/painted_widget.h"

namespace ui {

/// The values of one weight over the steps, a curve for each run. GUI thread.
class WeightCurves final : public PaintedWidget {
    Q_OBJECT
public:
    struct Curve {
        QString name;
        QColor color;
        std::vector<QPointF> points;  ///< step and value
    };
    explicit WeightCurves(const Theme* theme, QWidget* parent = nullptr);
    /// `end`: last step of the axis. `step`: marked; 0: none.
    void setCurves(std::vector<Curve> curves, double end, std::int64_t step);
    QSize sizeHint() const override { return {360, 9 * fontMetrics().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<Curve> curves_;
    double end_ = 1;
    std::int64_t step_ = 0;
};

}  // namespace ui
