#pragma once

#include <cmath>
#include <string>

#include "kernels/conv2d.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace kernels::cpu {

// oneDNN's matrix product and convolution, f32 and bf16. Primitives, their memory objects and
// layouts are made once for each shape, dtype and thread count, and cached by the calling thread
// (up to a bound); a later call swaps pointers. Each function returns false if oneDNN has only
// reference code for the shape, or the processor lacks instructions for bf16; the caller must then
// use another implementation.
//
// Numerics of bf16: products are exact in f32 and sums are f32, of neighbouring pairs first; the
// result is rounded once, to nearest even. The instructions treat subnormal bf16 operands as zero
// and flush a subnormal result; AMX does the same.
//
// The bits of a result follow from operands, shape, strides, dtype, processor and threads. They
// never follow from what a cache or scratch memory holds, from addresses, or from a measurement:
// otherwise a resumed run would not repeat the first one.

/// Whether a product's b is copied into oneDNN's blocked order before it, as a whole. Sums with AMX
/// then have another order, and other bits, so the choice must follow from the shape, as it does by
/// default. The others are for tests and measurements.
enum class PackB : unsigned char { if_faster, never, always };

/// `gemm` for f32 and bf16. Also returns false for a bias with an alpha other than 1, and for an
/// operand that a batch shares.
bool dnnl_gemm(const Matrix& c, const ConstMatrix& a, const ConstMatrix& b,
               const GemmOptions& options, PackB pack = PackB::if_faster);

enum class ConvDirection : unsigned char { forward, data_gradient, weight_gradient };

/// The three tensors of a convolution; the one that `direction` names is written. bias may be null
/// and is read by the forward direction only.
struct ConvOperands {
    void* x;
    void* w;  ///< (K, C / groups, R, S), blocked for oneDNN within each call
    void* y;
    const void* bias = nullptr;
};

/// Also returns false if oneDNN would leave part of a bf16 weight gradient unwritten, and if it may
/// have spread an infinity of a bf16 operand to unrelated elements.
bool dnnl_convolution(ConvDirection direction, DType dtype, const ConvOperands& operands,
                      const Conv2dShape& shape);

/// oneDNN's name for the implementation of this shape and dtype ("jit:avx512_core"), or empty where
/// it has none that dnnl_convolution uses. dnnl_convolution may still return false, for bf16 values
/// that are not finite.
std::string dnnl_convolution_route(ConvDirection direction, DType dtype, const Conv2dShape& shape);

/// Whether no element is infinite or NaN (nor, in f64, beyond f32's numbers).
inline bool is_finite(ConstArray x) {
    float largest = 0;
    abs_max(&largest, x, {});
    return std::isfinite(largest);
}

}  // namespace kernels::cpu
