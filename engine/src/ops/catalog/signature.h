#pragma once

#include "tensor/op.h"

namespace engine {

/// Rejects tensors and attributes that the op's signature does not name: ignoring one would
/// silently compute something else. An attribute that is null or false counts as absent.
void check_against_signature(const OpInfo& info, const OpArguments& args);

}  // namespace engine
