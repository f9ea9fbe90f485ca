#pragma once

#include "ops/catalog_only/grid_sample.h"
#include "tensor/tape.h"

// The coordinates of grid_sample along one axis. Tensors are in the type that is computed in.
namespace engine {

struct AxisRule {
    std::int64_t size;
    GridPadding padding;
    bool align_corners;
};

/// Maps [-1, 1] to elements: 0 is the middle of the first.
Tensor from_ends(const Tensor& c, const AxisRule& rule);
/// Where the padding reads instead of c, outside the tape.
struct Inside {
    Tensor at;     // clipped for border, mirrored for reflection; zeros: c, or a place outside for
                   // what is no number or infinite
    Tensor slope;  // d at / d c, PyTorch's: 0 at and beyond the ends that clip; undefined: 1
    Tensor lost;   // bool, where there is no place inside: at is 0 there; undefined: nowhere
};
Inside brought_inside(const Tensor& c, const AxisRule& rule);
/// `to.at` on the tape of c. A gradient is multiplied by the slope, so an infinite one gives NaN
/// where c is clipped, as in PyTorch's kernels. Where `lost` is true no gradient arrives
/// (undefined: nowhere).
Tensor moved(const Tensor& c, const Inside& to, const Tensor& lost);
/// The four weights of Keys' cubic with slope -0.75 at t in [0, 1).
Tensor cubic_weight(const Tensor& t, int tap);
/// Outside the tape: the next whole number below, and the nearest (halves to the even one).
Tensor floored(const Tensor& x);
Tensor nearest_whole(const Tensor& x);
/// 0-d tensors: a number of x's type, and an i64.
Tensor number_like(double value, const Tensor& x);
Tensor whole_number(std::int64_t value, const Tensor& x);

}  // namespace engine
