#pragma once

#include <string>

#include "ops/vision/upsample_taps.h"
#include "tensor/tape.h"

namespace engine {

inline constexpr const char* weighs_neighbours =
    "Weighs neighbours against each other: in fp32, so that a smooth image stays smooth.";

inline constexpr const char* only_copies =
    "Listed with its family: it only copies, but its result is fp32.";

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
TensorList run_upsample(const Op& op, const OpArguments& args);
inline constexpr Op upsample_nearest1d_op(CastPolicy::f32,
                                          "upsample_nearest1d(x; output_size=[], scale_factors=[])",
                                          only_copies, run_upsample);
inline constexpr Op upsample_nearest2d_op(CastPolicy::f32,
                                          "upsample_nearest2d(x; output_size=[], scale_factors=[])",
                                          only_copies, run_upsample);
inline constexpr Op upsample_nearest3d_op(CastPolicy::f32,
                                          "upsample_nearest3d(x; output_size=[], scale_factors=[])",
                                          only_copies, run_upsample);
inline constexpr Op upsample_nearest_exact1d_op(
    CastPolicy::f32, "_upsample_nearest_exact1d(x; output_size=[], scale_factors=[])", only_copies,
    run_upsample);
inline constexpr Op upsample_nearest_exact2d_op(
    CastPolicy::f32, "_upsample_nearest_exact2d(x; output_size=[], scale_factors=[])", only_copies,
    run_upsample);
inline constexpr Op upsample_nearest_exact3d_op(
    CastPolicy::f32, "_upsample_nearest_exact3d(x; output_size=[], scale_factors=[])", only_copies,
    run_upsample);
inline constexpr Op upsample_linear1d_op(
    CastPolicy::f32, "upsample_linear1d(x; output_size=[], align_corners=False, scale_factors=[])",
    weighs_neighbours, run_upsample);
inline constexpr Op upsample_bilinear2d_op(
    CastPolicy::f32,
    "upsample_bilinear2d(x; output_size=[], align_corners=False, scale_factors=[])",
    weighs_neighbours, run_upsample);
inline constexpr Op upsample_trilinear3d_op(
    CastPolicy::f32,
    "upsample_trilinear3d(x; output_size=[], align_corners=False, scale_factors=[])",
    weighs_neighbours, run_upsample);
inline constexpr Op upsample_bicubic2d_op(
    CastPolicy::f32, "upsample_bicubic2d(x; output_size=[], align_corners=False, scale_factors=[])",
    weighs_neighbours, run_upsample);
inline constexpr Op upsample_bilinear2d_aa_op(
    CastPolicy::f32,
    "_upsample_bilinear2d_aa(x; output_size=[], align_corners=False, scale_factors=[])",
    weighs_neighbours, run_upsample);
inline constexpr Op upsample_bicubic2d_aa_op(
    CastPolicy::f32,
    "_upsample_bicubic2d_aa(x; output_size=[], align_corners=False, scale_factors=[])",
    weighs_neighbours, run_upsample);

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
