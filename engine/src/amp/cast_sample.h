#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace engine {

struct QuantizedMatrix;

/// Casts of an operand, value by value (QuantizationRow says what the fields mean).
struct CastSample {
    static constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

    std::int64_t rows = 0, cols = 0;  ///< of the last cast
    bool one_set = false;             ///< the codes serve both contractions
    float amax = 0, scale = unknown;
    float block_scale_min = unknown, block_scale_max = unknown;
    float history_max = unknown, current_scale = unknown, scale_floor = unknown;
    std::int64_t zero_blocks = 0, elements = 0, nonzero = 0, zeroed = 0, saturated = 0,
                 subnormal = 0, nonfinite = 0;
    double error2 = 0, signal2 = 0, noise2 = 0;
    std::vector<std::int64_t> scale_codes{};  ///< blocks of each code; empty: one scale

    /// A further cast of the step.
    void add(const CastSample& other);
};

/// Measures the cast of x (rows, cols), contiguous, whose result is `codes`. `factors`: of the
/// blocks, before the cast. `at_random`: as the codes were rounded. The counts of zeroed and
/// saturated values are those of the cast itself.
CastSample examine_cast(const Tensor& x, const QuantizedMatrix& codes,
                        std::span<const float> factors, bool at_random);

}  // namespace engine
