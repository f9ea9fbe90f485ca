#pragma once

#include "core/op.h"

namespace engine {

/// Whether precision.force can set the op's type: it computes with floating numbers, or its output
/// has the type of its input. Not so are views and copies, choices by index, questions with boolean
/// or whole answers, casts, forms that write in place, second names of other ops, and ctc_loss,
/// which takes no 16-bit numbers.
bool is_forceable(const OpInfo& info);

}  // namespace engine
