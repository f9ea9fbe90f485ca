#pragma once

#include <QWidget>

#include "skips/skips_model.h"
#include "text/spoken.h"

namespace ui {

class Theme;

/// Exponents of the first non-finite tensor: filled as it was, outlined at another loss scale or in
/// FP32, against the limits of FP16. Counts are on a logarithmic axis. GUI thread.
class ExponentBars final : public QWidget, public Spoken {
    Q_OBJECT
public:
    ExponentBars(const Theme* theme, SkipsModel* model, QWidget* parent = nullptr);
    QString spoken() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Axis;
    void paintBars(QPainter& painter, const Axis& axis,
                   const engine::TensorHistograms& found) const;
    void paintLimits(QPainter& painter, const Axis& axis) const;
    void paintLegend(QPainter& painter, const Axis& axis,
                     const engine::TensorHistograms& found) const;

    const Theme* theme_;
    SkipsModel* model_;
};

}  // namespace ui
