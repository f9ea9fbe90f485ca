#pragma once

#include <array>

#include "network/network_strip.h"

namespace ui {

struct NetworkLineRow;

/// Shape, parameters and FLOPs of each line, and the type that its module had in the traced step.
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
    std::array<QRect, 4> cells(const QRect& row) const;
    /// The type in the traced step; empty: none.
    QString measured(const NetworkLineRow& values) const;
    void paintType(QPainter& painter, const QRect& cell, const NetworkLineRow& values) const;

    int shape_ = 0, parameters_ = 0, flops_ = 0, type_ = 0;  ///< widths
    bool narrow_ = false;
    bool typed_ = false;  ///< a step was traced
};

/// "37.7 MFLOP"
QString flopsText(double flops);

}  // namespace ui
