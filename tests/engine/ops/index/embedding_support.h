#pragma once

#include <vector>

#include "autograd/backward.h"
#include "tensor/tensor.h"

namespace engine {

using Values = std::vector<double>;

/// Three rows of two columns.
inline Tensor table(DType dtype = DType::f32) {
    Tensor weight = Tensor::of({1, 2, 3, 4, 5, 6}, {3, 2}, dtype);
    weight.set_requires_grad(true);
    return weight;
}

/// The backward pass from y, whose gradient is dy.
inline void send_back(const Tensor& y, const Values& dy) {
    backward({&y, 1}, std::vector{Tensor::of(dy, y.shape(), y.dtype())});
}

}  // namespace engine
