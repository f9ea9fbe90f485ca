#include "nn/linear_relu.h"

#include "linalg/linear_relu.h"
#include "pointwise/activation.h"

namespace engine {

Tensor linear_relu(const Linear& layer, const Tensor& x) {
    if (!may_join_relu()) return relu(layer(x));
    const ModuleScope opened(layer.module);
    return linear_relu(x, layer.weight, layer.bias);
}

}  // namespace engine
