#pragma once

#include "theme/tokens.h"

namespace ui {

/// Colour of a share in [0, 1], from the panel's colour to a deep tone of the run's. Uses the root,
/// which raises small shares.
QColor heatColor(const Tokens& tokens, const QColor& run, double share);

}  // namespace ui
