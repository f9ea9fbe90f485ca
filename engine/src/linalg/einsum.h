#pragma once

#include <string>

#include "core/tape.h"

namespace engine {

extern const OpInfo einsum_info;

/// The sum of products that the equation names: "bij,bjk->bik", "ii->i", "...ij->...ji". Letters
/// that the result lacks are summed; a letter twice in one operand is its diagonal. Operands are
/// taken from the left, two at a time, by batched matrix products where there is a sum; each step
/// is stored in the type of the run, as PyTorch does. Policy low: all operands are cast at once and
/// nothing inside casts again; without a region they have one type.
Tensor einsum(const std::string& equation, const TensorList& operands);

}  // namespace engine
