#pragma once

#include "tensor/tensor.h"

namespace engine {

/// An operand as the rules of types see it: a tensor, or a value that a network will compute.
struct OperandType {
    DType type = DType::f32;
    bool has_dims = true;
    bool is_number = false;  ///< a plain number, not a tensor
};

inline OperandType operand_type(const Tensor& tensor) {
    return {tensor.dtype(), tensor.rank() > 0, tensor.impl()->is_number};
}

/// Type of an op on both without autocast (autocast.md#operations-without-an-entry, 1.11).
DType result_type(const OperandType& a, const OperandType& b);

}  // namespace engine
