#pragma once

#include "text/spoken.h"
#include "widgets/painted_widget.h"
#include "xray/xray_model.h"

namespace ui {

/// A step as bars along time: the width is the time, the height the share of the device's peak
/// FLOP/s, the colour the type. A click selects the operation. GUI thread.
class Timeline final : public PaintedWidget, public Spoken {
    Q_OBJECT
public:
    Timeline(const Theme* theme, XrayModel* model, QWidget* parent = nullptr);
    QString spoken() const override;

signals:
    void opClicked(const engine::XrayOp* op);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    double end() const;  ///< microseconds
    double xOf(double us) const;
    const engine::XrayOp* opAt(double x) const;

    XrayModel* model_;
};

}  // namespace ui
