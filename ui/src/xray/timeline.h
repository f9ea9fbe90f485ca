#pragma once

#include <QWidget>

#include "text/spoken.h"
#include "xray/xray_model.h"

namespace ui {

class Theme;

/// A step as bars along time: the width is the time, the height the share of the device's peak
/// FLOP/s, the colour the type. A click selects the operation. GUI thread.
class Timeline final : public QWidget, public Spoken {
    Q_OBJECT
public:
    Timeline(const Theme* theme, XrayModel* model, QWidget* parent = nullptr);
    QString spoken() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

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

    const Theme* theme_;
    XrayModel* model_;
};

}  // namespace ui
