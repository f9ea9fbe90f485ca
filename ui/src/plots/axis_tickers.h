#pragma once

#include <qcustomplot.h>

namespace ui {

/// How the y axis counts.
enum class AxisKind {
    linear,
    log,    ///< 0.2, 0.5, 1, 2, 5
    log2,   ///< powers of two: 2¹⁶
    share,  ///< 0 to 1 as percent
    bytes,
};

/// Ticks and labels for an axis of this kind.
QSharedPointer<QCPAxisTicker> makeTicker(AxisKind kind);
/// Ticks at whole steps: 1,200.
QSharedPointer<QCPAxisTicker> makeStepTicker();

/// The smallest round range that holds [low, high] on an axis of this kind; a default one if they
/// are not usable (NaN, or nothing positive on a log axis).
QCPRange roundRange(double low, double high, AxisKind kind);

}  // namespace ui
