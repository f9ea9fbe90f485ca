#pragma once

#include "ops/catalog/op_case.h"

namespace engine {

inline constexpr char quantize_case_name[] = "quantize";

/// The case "quantize" of `halftone op`: a cast to 8 or 4 bits. `file` holds the matrix 0. Attributes:
/// format (e4m3, e5m2, e2m1), scale (tensor, row, block, mx, two-level), block (values that share a
/// scale), square (blocks have as many rows as columns), power_of_2, mx_scale (rceil, floor, ceil,
/// even), dim (that of a row or block; 1 unless given), round (nearest, stochastic), seed,
/// non_finite (propagate, saturate). Results: codes; scales, the codes of blocks' scales or inverse
/// scales in f32; inverse, the factor of all; output, the values in f32. Throws Error(value).
TensorMap run_quantize_case(const OpCase& request, const TensorMap& file);

}  // namespace engine
