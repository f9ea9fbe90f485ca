#pragma once

#include <QWidget>

#include "twin/twin_model.h"

namespace ui {

class PlotLink;
class Theme;

/// Loss of the second run minus that of the reference, step by step: raw behind, the mean of 20
/// steps in front, and a band of two standard errors of that mean by the spread over steps. GUI
/// thread.
class LossGap final : public QWidget {
    Q_OBJECT
public:
    LossGap(const Theme* theme, PlotLink* link, TwinModel* model, QWidget* parent = nullptr);

    /// The mean of the last 20 steps; NaN without any.
    double gap() const;
    /// Two standard errors of it.
    double noise() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void refresh();
    QRectF plot() const;
    double end() const;
    double xOf(double step) const;

    const Theme* theme_;
    PlotLink* link_;
    TwinModel* model_;
    std::vector<double> raw_;    ///< by step
    std::vector<double> mean_;   ///< of up to 20 steps that end there
    std::vector<double> error_;  ///< two standard errors of the mean
};

}  // namespace ui
