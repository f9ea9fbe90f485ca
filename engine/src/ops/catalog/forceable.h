#pragma once

#include "tensor/op.h"

namespace engine {

/// Whether precision.force can set the op's type: it computes with floating numbers, or its output
/// has the type of its input. Excluded are views and copies, choices by index, ops with boolean or
/// integer results, casts, in-place forms, aliases of other ops, and ctc_loss, which accepts no
/// 16-bit numbers.
bool is_forceable(const OpInfo& info);

}  // namespace engine
