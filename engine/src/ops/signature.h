#pragma once

#include "core/op.h"

namespace engine {

/// Refuses tensors and attributes that the op's signature does not name: to pass over one in
/// silence would be to answer another question. An attribute that is null or false asks for
/// nothing.
void check_against_signature(const OpInfo& info, const OpArguments& args);

}  // namespace engine
