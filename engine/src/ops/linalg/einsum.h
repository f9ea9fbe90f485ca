#pragma once

#include <string>

#include "tensor/tape.h"

namespace engine {

extern const OpInfo einsum_info;

/// The sum of products that the equation describes: "bij,bjk->bik", "ii->i", "...ij->...ji".
/// Letters missing in the result are summed; a letter twice in one operand takes its diagonal.
/// Operands are combined from the left, two at a time, by batched matrix products where there is a
/// sum. Each intermediate result is stored in the type of the operands, as in PyTorch. Policy low:
/// all operands are cast at once, and nothing inside casts again; without a region they must have
/// one type.
Tensor einsum(const std::string& equation, const TensorList& operands);

}  // namespace engine
