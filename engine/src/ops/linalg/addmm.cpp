#include "ops/linalg/addmm.h"

#include <utility>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/linalg/gemm_operand.h"
#include "ops/linalg/layer_gradients.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/wide.h"

namespace engine {
namespace {

TensorList run_addmm(const OpArguments& args) {
    return {
        addmm(args.at(0), args.at(1), args.at(2), args.number("beta", 1), args.number("alpha", 1))};
}

/// A row that is added to each row of the product: the product adds it before its rounding, and its
/// copy for each row is spared.
bool is_bias(const Tensor& c, const Tensor& y, double beta, double alpha) {
    return beta == 1 && alpha == 1 && y.rank() == 2 && c.rank() == 1 && c.size(0) == y.size(1) &&
           c.is_contiguous();
}

/// beta * c + alpha * a b, outside the tape.
Tensor compute_sum(const OpInfo& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha) {
    const Operand left = operand(a, false), right = operand(b, false);
    const Tensor y = room_for(info, a, left, b, right, a.dtype());
    if (!(broadcast_shapes(info.name, c.shape(), y.shape()) == y.shape()))
        check_shapes(info, false, c, y);
    if (is_bias(c, y, beta, alpha)) {
        gemm(y, left, right, {.bias = c.data()});
        return y;
    }
    if (beta != 0) copy_into(y, expanded_view(c, y.shape()));
    gemm(y, left, right, {.alpha = alpha, .beta = beta});
    return y;
}

/// beta * dy summed down to c's shape; scaled before it is rounded.
Tensor gradient_of_addend(const Tensor& dy, const Shape& shape, double beta) {
    if (beta == 1) return sum_to(dy, shape);
    return to(mul(sum_to(widened(dy), shape), beta), dy.dtype());
}

/// alpha a b for a gradient. With alpha 0 a BLAS does not read the matrices; PyTorch multiplies the
/// product by 0, which turns an infinity into NaN, and so does this.
Tensor scaled_product(const Tensor& a, bool swap_a, const Tensor& b, bool swap_b, double alpha) {
    if (alpha != 0) return product(a, swap_a, b, swap_b, alpha);
    return mul(product(a, swap_a, b, swap_b), alpha);
}

}  // namespace

const OpInfo addmm_info{"addmm",
                        CastPolicy::low,
                        "addmm(c, a, b; beta, alpha)",
                        2,
                        "A matrix product with an addition that costs nothing more: as mm.",
                        run_addmm};
Tensor add_product(const OpInfo& info, const Tensor& c, const Tensor& a, const Tensor& b,
                   double beta, double alpha) {
    const Tensor inputs[] = {c, a, b};
    return record_many(
        info, inputs, compute_sum(info, c, a, b, beta, alpha), {save(a), save(b)},
        [from = c.shape(), beta, alpha](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& dy = grads[0];
            TensorList out(3);
            const bool is_layer = from.rank() == 1 && dy.rank() == 2 && from[0] == dy.size(1) &&
                                  beta == 1 && alpha == 1;
            if (is_layer && saved.needs_gradient(0) && saved.needs_gradient(2)) {
                if (auto both = layer_gradients(dy, saved[0], WeightShape::in_out)) {
                    out[0] = std::move(both->bias);
                    if (saved.needs_gradient(1)) out[1] = product(dy, false, saved[1], true);
                    out[2] = std::move(both->weight);
                    return out;
                }
            }
            if (saved.needs_gradient(0)) out[0] = gradient_of_addend(dy, from, beta);
            if (saved.needs_gradient(1)) out[1] = scaled_product(dy, false, saved[1], true, alpha);
            if (saved.needs_gradient(2)) out[2] = scaled_product(saved[0], true, dy, false, alpha);
            return out;
        });
}

Tensor addmm(const Tensor& c0, const Tensor& a0, const Tensor& b0, double beta, double alpha) {
    if (intercepted(addmm_info))
        return dispatched(
            addmm_info, [](const auto&... args) { return addmm(args...); }, c0, a0, b0, beta,
            alpha);
    check_rank(addmm_info, a0, 2);
    check_rank(addmm_info, b0, 2);
    const auto [c, a, b] = autocast(addmm_info, c0, a0, b0);
    one_type(addmm_info, {c, a, b});
    return add_product(addmm_info, c, a, b, beta, alpha);
}

}  // namespace engine
