#pragma once

#include "theme/tokens.h"

namespace ui {

/// Colour of a share in [0, 1], from the panel's to a deep tone of the
/// run's. The root lifts small shares.
QColor heatColor(const Tokens& tokens, const QColor& run, double share);

}  // namespace ui
