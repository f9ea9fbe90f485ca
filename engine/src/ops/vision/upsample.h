#pragma once

#include <string>

#include "ops/vision/upsample_taps.h"
#include "tensor/tape.h"

namespace engine {

extern const OpInfo upsample_nearest1d_info, upsample_nearest2d_info, upsample_nearest3d_info,
    upsample_nearest_exact1d_info, upsample_nearest_exact2d_info, upsample_nearest_exact3d_info,
    upsample_linear1d_info, upsample_bilinear2d_info, upsample_trilinear3d_info,
    upsample_bicubic2d_info, upsample_bilinear2d_aa_info, upsample_bicubic2d_aa_info;

/// One of the two: sizes of the result, or factors. With factors the sizes are rounded down, and
/// the steps are the reciprocals of the factors.
struct UpsampleTarget {
    std::vector<std::int64_t> output_size;
    std::vector<double> scale_factors;
};

/// x (N, C, then one to three dimensions) resampled along the dimensions after C: PyTorch's op of
/// that mode and rank, in f32 in a region. Weights are those of exact coordinates. Computed in f32
/// (f64 for f64), rounded once.
///
/// Without antialiasing equal sizes are a copy, regardless of the factors. Otherwise a neighbour of
/// weight 0 is multiplied too, as in PyTorch's CUDA kernels: an infinite one gives NaN. The nearest
/// modes ignore `align_corners`. Throws Error(shape) for a mode that x's rank does not have,
/// Error(value) for sizes that are not positive.
Tensor upsample(UpsampleMode mode, const Tensor& x, const UpsampleTarget& target,
                bool align_corners = false);

struct InterpolateOptions {
    std::string mode = "nearest";  ///< nearest-exact, linear, bilinear, trilinear, bicubic, area
    bool align_corners = false;
    bool antialias = false;               ///< bilinear and bicubic
    bool recompute_scale_factor = false;  ///< take the steps from the sizes, not the factors
};
/// PyTorch's interpolate: chooses one of the ops above, and is no op itself. One size or factor
/// applies to all dimensions. Mode area is the adaptive average, for images only; it has no
/// autocast entry, so it keeps x's type.
Tensor interpolate(const Tensor& x, UpsampleTarget target, const InterpolateOptions& options = {});

}  // namespace engine
