#pragma once

#include "kernels/index.h"
#include "tensor/tape.h"

namespace engine {

/// One scatter_reduce: how the elements of a place are reduced, and the place of each element.
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
