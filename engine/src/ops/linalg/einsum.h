#pragma once

#include <string>

#include "tensor/tape.h"

namespace engine {

/// The sum of products that the equation describes: "bij,bjk->bik", "ii->i", "...ij->...ji".
/// Letters missing in the result are summed; a letter twice in one operand takes its diagonal.
/// Operands are combined from the left, two at a time, by batched matrix products where there is a
/// sum. Each intermediate result is stored in the type of the operands, as in PyTorch. Policy low:
/// all operands are cast at once, and nothing inside casts again; without a region they must have
/// one type.
Tensor einsum(const std::string& equation, const TensorList& operands);
inline constexpr Op einsum_op(CastPolicy::low, "einsum(operands[]; equation)",
                              "Matrix products in another notation: cast once, then as bmm.",
                              by_name<einsum>);

}  // namespace engine
