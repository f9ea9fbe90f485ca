#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

/// How many values have which magnitude. All bits zero: nothing counted yet.
struct ExponentCounts {
    static constexpr int first_exponent = -48;
    static constexpr int last_exponent = 17;
    static constexpr int bin_count = last_exponent - first_exponent + 1;

    /// bins[e - first_exponent]: finite values v with floor(log2|v|) == e. The last bin takes all
    /// larger finite values too.
    std::int64_t bins[bin_count];
    std::int64_t zero;      ///< 0 and -0
    std::int64_t below;     ///< not zero, but below 2^first_exponent in magnitude
    std::int64_t infinite;  ///< of either sign
    std::int64_t nan;
    /// Largest magnitude of the finite non-zero values, as the bits of an f64, which increase with
    /// the value; 0: there are none.
    std::uint64_t largest;
    /// The complement of the bits of their smallest magnitude, so that both are maxima; 0: none.
    std::uint64_t smallest_inverted;
};

/// Adds the values of x to *counts. x f32, f64, f16 or bf16; subnormals of every type count under
/// their true exponent. Only integers and maxima, so the result does not depend on threads or
/// blocks.
using CountExponents = void(ExponentCounts* counts, ConstArray x, Stream stream);
HALFTONE_KERNEL(CountExponents, count_exponents);

}  // namespace kernels
