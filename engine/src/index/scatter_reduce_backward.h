#pragma once

#include "core/tape.h"
#include "kernels/index.h"

namespace engine {

/// One scatter_reduce: what it makes of the elements that go to a place, and where they go.
struct Scattering {
    kernels::IndexFold fold;
    int dim;
    bool include_self;
    Tensor index;
};

/// Gradients of x and source (of the index's shape) from that of the result y, in ops; all of one
/// f32 or f64 type.
TensorList scatter_reduce_backward(const Tensor& dy, const Tensor& x, const Tensor& source,
                                   const Tensor& y, const Scattering& how);

}  // namespace engine
