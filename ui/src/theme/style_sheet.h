#pragma once

#include <QString>

#include "theme/tokens.h"

namespace ui {

/// The application's style sheet for these tokens.
QString styleSheet(const Tokens& tokens, bool dark);

}  // namespace ui
