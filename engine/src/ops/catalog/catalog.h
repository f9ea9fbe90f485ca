#pragma once

#include <span>
#include <string>

#include "tensor/op.h"

namespace engine {

/// Every op that can be called by name, in the order of the catalog (`halftone ops`).
std::span<const Op* const> all_ops();
/// The op of that name, or null.
const Op* find_op(const std::string& name);

}  // namespace engine
