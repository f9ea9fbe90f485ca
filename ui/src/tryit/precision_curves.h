#pragma once

#include "text/spoken.h"
#include "tryit/report_models.h"
#include "widgets/painted_widget.h"

namespace ui {

/// Precision by recall of the classes with the lowest AP, at most six: full lines at an overlap of
/// 0.50, dashed ones at 0.75.
class PrecisionCurves final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    PrecisionCurves(const Theme* theme, SharedReport report, QWidget* parent = nullptr);

    /// The classes on show, the worst first; those without a truth have no curve.
    const std::vector<std::size_t>& shown() const { return shown_; }
    QString spoken() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    const std::vector<engine::ClassPrecision>& figures() const {
        return report_->detections->primary().classes;
    }
    void paintAxes(QPainter& painter, const QRectF& area) const;
    void paintLegend(QPainter& painter, const QRectF& area) const;

    SharedReport report_;
    std::vector<std::size_t> shown_;
};

}  // namespace ui
