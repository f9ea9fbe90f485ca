#pragma once

#include <QColor>
#include <QFontMetrics>
#include <QRectF>
#include <QString>
#include <vector>

namespace ui {

/// A name to be written at a curve's end.
struct EndLabel {
    QString text;
    QColor color;
    double x = 0;  ///< left edge, pixels
    double y = 0;  ///< wanted middle, pixels
    bool optional = false;
};

/// Where it goes. Without text it is a dot in the curve's colour that fills the box.
struct PlacedLabel {
    QRectF box;
    QString text;
    QColor color;
};

/// Places labels between `top` and `bottom` without overlap, clipped at `right`. If not all names
/// fit, optional ones are dropped first, then names become dots, and finally the dots of the last
/// curves are dropped.
std::vector<PlacedLabel> placeLabels(std::vector<EndLabel> labels, const QFontMetrics& metrics,
                                     double top, double bottom, double right);

}  // namespace ui
