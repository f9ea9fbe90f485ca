#include "theme/heat_color.h"

#include <algorithm>
#include <cmath>

namespace ui {

QColor heatColor(const Tokens& tokens, const QColor& run, double share) {
    if (share <= 0) return tokens.panel;
    const bool dark = tokens.panel.lightness() < 128;
    const double depth = 0.08 + 0.92 * std::sqrt(std::min(share, 1.0));
    constexpr double turn = 0.6;  // from the panel's colour to the run's, then on to a deep tone
    if (depth < turn) return blend(tokens.panel, run, depth / turn);
    const QColor deep = dark ? QColor(Qt::white) : QColor(Qt::black);
    return blend(run, deep, 0.65 * (depth - turn) / (1 - turn));
}

}  // namespace ui
