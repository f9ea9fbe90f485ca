#pragma once

#include "skips/skips_model.h"
#include "text/spoken.h"
#include "widgets/painted_widget.h"

namespace ui {

/// How the bar of a layer is drawn.
enum class ChainBar {
    run,        ///< in the run's colour
    fp32,       ///< computed in FP32
    above,      ///< so, and above the limit of FP16, which is not its own: it says "FP32"
    not_finite  ///< the fault
};
ChainBar chainBar(const engine::ChainLink& link, bool showsF32);
/// Its largest value, as computed again or in FP32.
double chainValue(const engine::ChainLink& link, bool f32);
/// Its values in words.
QString chainText(const engine::ChainLink& link);

/// The largest gradient of each layer in the order of the backward pass, against the limit of FP16.
/// For a fault of the forward pass, the largest output in the order of the forward pass. GUI
/// thread.
class ChainPlot final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    ChainPlot(const Theme* theme, SkipsModel* model, QWidget* parent = nullptr);
    QString spoken() const override;
    static QString nameOf(const engine::ChainLink& link);
    /// Shows the values as computed again, or those in FP32.
    void showF32(bool f32);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    bool namesAreFlat() const;
    QRectF plot() const;
    int at(double x) const;
    void paintLimit(QPainter& painter, double ceiling) const;

    SkipsModel* model_;
    bool f32_ = false;
};

}  // namespace ui
