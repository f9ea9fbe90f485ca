#pragma once

#include "kernels/gemm.h"
#include "tensor/tape.h"

namespace engine {

// Tensors as the matrix kernel takes them, outside the tape.

/// A matrix (or a batch of them) as the kernel takes it; `kept` owns the memory.
struct Operand {
    Tensor kept;
    kernels::ConstMatrix matrix;
    std::int64_t step = 0;  // elements from one matrix of the batch to the next
};

/// The last two dimensions of x, swapped if asked, without a copy where the strides allow it.
Operand operand(const Tensor& x, bool swap);

/// y = a b with the options' factors, bias and relu; y contiguous.
void gemm(const Tensor& y, const Operand& a, const Operand& b, kernels::GemmOptions options = {});

/// Uninitialised room for a b; checks that the operands fit one another, and names `info` if not.
Tensor room_for(const Op& info, const Tensor& a, const Operand& left, const Tensor& b,
                const Operand& right, DType dtype);

}  // namespace engine
