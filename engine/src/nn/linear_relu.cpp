#include "nn/linear_relu.h"

#include "ops/linalg/linear_relu.h"
#include "ops/pointwise/activation.h"

namespace engine {

Tensor linear_relu(const Linear& layer, const Tensor& x) {
    if (!can_fuse_linear_relu()) return relu(layer(x));
    const ModuleScope opened(layer.module);
    return linear_relu(x, layer.weight, layer.bias);
}

}  // namespace engine
