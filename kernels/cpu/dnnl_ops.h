#pragma once

#include <string>

#include "kernels/conv2d.h"
#include "kernels/gemm.h"

namespace kernels::cpu {

// oneDNN's matrix product and convolution, f32 and bf16. Primitives, their memory objects and
// layouts are made once for each shape, dtype and thread count, and kept by the calling thread (up
// to a bound); a later call swaps pointers. Each function returns false where oneDNN has only
// reference code for the shape, or bf16 without instructions for it, or carries an infinity of a
// bf16 operand to where it does not belong: the result is then still to be written.
//
// Numerics of bf16: products are exact in f32 and sums are f32, of neighbouring pairs first; the
// result is rounded once, to nearest even. The instructions treat subnormal bf16 operands as zero
// and flush a subnormal result; AMX does the same.

/// `gemm` for f32 and bf16; false also for a bias with an alpha other than 1, and for an operand
/// that a batch shares.
bool dnnl_gemm(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
               const GemmOptions& options);

enum class ConvDirection : unsigned char { forward, data_gradient, weight_gradient };

/// The three tensors of a convolution; the one that `direction` names is written. bias may be null
/// and is read by the forward direction only.
struct ConvOperands {
    void* x;
    void* w;  ///< (K, C / groups, R, S), blocked for oneDNN within each call
    void* y;
    const void* bias = nullptr;
};

bool dnnl_convolution(ConvDirection direction, DType dtype, const ConvOperands& operands,
                      const Conv2dShape& shape);

/// oneDNN's name for what it would run ("jit:avx512_core"), or empty where dnnl_convolution would
/// return false.
std::string dnnl_convolution_route(ConvDirection direction, DType dtype, const Conv2dShape& shape);

}  // namespace kernels::cpu
