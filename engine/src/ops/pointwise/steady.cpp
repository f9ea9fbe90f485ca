#include "ops/pointwise/steady.h"

#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"

namespace engine {

Tensor steady_sigmoid(const Tensor& w) {
    return pointwise(sigmoid_info, w, kernels::UnaryOp::sigmoid, [](const Tensor& x) {
        return mul(steady_sigmoid(x), steady_sigmoid(neg(x)));
    });
}

Tensor tanh_slope(const Tensor& w) {
    const Tensor twice = mul(w, 2.0);
    return mul(mul(steady_sigmoid(twice), steady_sigmoid(neg(twice))), 4.0);
}

Tensor steady_tanh(const Tensor& w) {
    return pointwise(tanh_info, w, kernels::UnaryOp::tanh, tanh_slope);
}

}  // namespace engine
