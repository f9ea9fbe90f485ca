#pragma once

#include "core/autograd.h"
#include "ops/grid_sample.h"

// The coordinates of grid_sample along one axis. Tensors are in the type that is computed in.
namespace engine {

struct AxisRule {
    std::int64_t size;
    GridPadding padding;
    bool align_corners;
};

/// From [-1, 1] to elements: 0 is the middle of the first.
Tensor from_ends(const Tensor& c, const AxisRule& rule);
/// Where the padding reads instead: clipped for border, mirrored for reflection; zeros: c itself.
/// The slope is PyTorch's: 0 at and beyond the ends that clip.
Tensor brought_inside(const Tensor& c, const AxisRule& rule);
/// Outside the tape: the next whole number below, and the nearest (halves to the even one).
Tensor floored(const Tensor& x);
Tensor nearest_whole(const Tensor& x);
/// 0-d tensors: a number of x's type, and an i64.
Tensor number_like(double value, const Tensor& x);
Tensor whole_number(std::int64_t value, const Tensor& x);

}  // namespace engine
