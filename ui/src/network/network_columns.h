#pragma once

#include "network/network_strip.h"

namespace ui {

/// Shape, parameters and FLOPs of each line.
class NetworkColumns final : public NetworkStrip {
    Q_OBJECT
public:
    NetworkColumns(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

    /// In a narrow page the FLOPs are hidden.
    void setNarrow(bool narrow);
    QString spoken() const override;

protected:
    void paintHead(QPainter& painter, const QRect& head) override;
    void paintRows(QPainter& painter) override;
    void changeEvent(QEvent* event) override;

private:
    void measure();
    std::array<QRect, 3> cells(const QRect& row) const;

    int shape_ = 0, parameters_ = 0, flops_ = 0;  ///< widths
    bool narrow_ = false;
};

/// "37.7 MFLOP"
QString flopsText(double flops);

}  // namespace ui
