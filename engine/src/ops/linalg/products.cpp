#include "ops/linalg/products.h"

#include <utility>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "ops/linalg/gemm_operand.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/quantized_product.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/inplace.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

/// A row that is added to each row of the product: the product adds it before its rounding, and its
/// copy for each row is spared.
bool is_bias(const Tensor& c, const Tensor& y, double beta, double alpha) {
    return beta == 1 && alpha == 1 && y.rank() == 2 && c.rank() == 1 && c.size(0) == y.size(1) &&
           c.is_contiguous();
}

/// beta * c + alpha * a b, outside the tape.
Tensor compute_sum(const Op& info, const Tensor& c, const Tensor& a, const Tensor& b,
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

Tensor add_product(const Op& info, const Tensor& c, const Tensor& a, const Tensor& b,
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

namespace {

/// bias + x weight by codes of x, and of the weight from which autocast cast the one that has the
/// gradient.
Tensor quantized_addmm(std::shared_ptr<QuantizedLayer> layer, const Tensor& bias, const Tensor& x,
                       const Tensor& weight, const Tensor& uncast_weight) {
    QuantizedProducts products(std::move(layer), WeightShape::in_out);
    std::array<Save, 3> kept;
    const Tensor y = [&] {
        const GradMode off(false);
        const LayerWeight both{uncast_weight.detach(), weight.detach()};
        const Tensor made = products.forward(x, both, bias, false);
        kept = products.saves(x, both, x.requires_grad(), weight.requires_grad());
        return made;
    }();
    const Tensor inputs[] = {bias, x, weight};
    return record_many(
        addmm_op, inputs, y, {kept[0], kept[1], kept[2]},
        [products](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& dy = grads[0];
            auto [dx, dw] =
                products.gradients(dy, saved, saved.needs_gradient(1), saved.needs_gradient(2));
            const Tensor db = saved.needs_gradient(0) ? sum_to(dy, {dy.size(1)}) : Tensor();
            return TensorList{db, dx, dw};
        });
}

}  // namespace

Tensor addmm(const Tensor& c0, const Tensor& a0, const Tensor& b0, double beta, double alpha) {
    return addmm_op.call(c0, a0, b0, beta, alpha,
                         [&](const Tensor& c, const Tensor& a, const Tensor& b) {
                             check_rank(addmm_op, a, 2);
                             check_rank(addmm_op, b, 2);
                             one_type(addmm_op, {c, a, b});
                             const bool is_layer = beta == 1 && alpha == 1 && c.rank() == 1 &&
                                                   c.size(0) == b.size(1) && a.size(1) == b.size(0);
                             if (auto layer = quantized_layer();
                                 layer && is_layer && a.numel() > 0 && b.numel() > 0)
                                 return quantized_addmm(std::move(layer), c, a, b, b0);
                             return add_product(addmm_op, c, a, b, beta, alpha);
                         });
}

namespace {

/// c for a result that is seen as one column.
Tensor column(const Op& info, const Tensor& c) {
    if (c.rank() == 0) return c;
    check_rank(info, c, 1);
    return reshape(c, {c.size(0), 1});
}

/// (b, n, k), (b, k, m)
void check_batches(const Op& info, const Tensor& b1, const Tensor& b2) {
    check_rank(info, b1, 3);
    check_rank(info, b2, 3);
    check_shapes(info, b1.size(0) == b2.size(0) && b1.size(2) == b2.size(1), b1, b2);
}

/// c in the type that it and the vectors have in common.
DType common_type(const Tensor& c, const Tensor& v1, const Tensor& v2) {
    const DType vectors = result_type(v1, v2);
    return c.rank() == 0 ? vectors : promote(vectors, c.dtype());
}

}  // namespace

Tensor baddbmm(const Tensor& c0, const Tensor& b10, const Tensor& b20, double beta, double alpha) {
    return baddbmm_op.call(c0, b10, b20, beta, alpha,
                           [&](const Tensor& c, const Tensor& b1, const Tensor& b2) {
                               one_type(baddbmm_op, {c, b1, b2});
                               check_batches(baddbmm_op, b1, b2);
                               return add_product(baddbmm_op, c, b1, b2, beta, alpha);
                           });
}

Tensor addbmm(const Tensor& c0, const Tensor& b10, const Tensor& b20, double beta, double alpha) {
    return addbmm_op.call(
        c0, b10, b20, beta, alpha, [&](const Tensor& c, const Tensor& b1, const Tensor& b2) {
            one_type(addbmm_op, {c, b1, b2});
            check_batches(addbmm_op, b1, b2);
            // All batches side by side are one product: (n, b k) (b k, m).
            const std::int64_t terms = b1.size(0) * b1.size(2);
            const Tensor left = reshape(permute(b1, {1, 0, 2}), {b1.size(1), terms});
            const Tensor right = reshape(b2, {terms, b2.size(2)});
            return add_product(addbmm_op, c, left, right, beta, alpha);
        });
}

Tensor addmv(const Tensor& c0, const Tensor& matrix0, const Tensor& vector0, double beta,
             double alpha) {
    return addmv_op.call(
        c0, matrix0, vector0, beta, alpha,
        [&](const Tensor& c, const Tensor& matrix, const Tensor& vector) {
            one_type(addmv_op, {c, matrix, vector});
            check_rank(addmv_op, matrix, 2);
            check_rank(addmv_op, vector, 1);
            check_shapes(addmv_op, matrix.size(1) == vector.size(0), matrix, vector);
            const Tensor y = add_product(addmv_op, column(addmv_op, c), matrix,
                                         reshape(vector, {vector.size(0), 1}), beta, alpha);
            return reshape(y, {matrix.size(0)});
        });
}

Tensor addr(const Tensor& c0, const Tensor& v10, const Tensor& v20, double beta, double alpha) {
    return addr_op.call(
        c0, v10, v20, beta, alpha, [&](const Tensor& c, const Tensor& v1, const Tensor& v2) {
            for (const auto& x : {c, v1, v2}) check_floating(addr_op, x);
            check_rank(addr_op, v1, 1);
            check_rank(addr_op, v2, 1);
            const DType dtype = common_type(c, v1, v2);
            const Tensor left = reshape(to(v1, dtype), {v1.size(0), 1});
            const Tensor right = reshape(to(v2, dtype), {1, v2.size(0)});
            // Not by a BLAS in PyTorch, so that 0 times an infinity is NaN here.
            if (alpha == 0)
                return add_product(addr_op, to(c, dtype), mul(left, 0.0), right, beta, 1);
            return add_product(addr_op, to(c, dtype), left, right, beta, alpha);
        });
}

namespace {

using Form = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, double, double);

Tensor write_sum(const Op& info, Form op, const Tensor& x, const Tensor& a, const Tensor& b,
                 double beta, double alpha) {
    return write_in_place(info, x, {a, b}, [&](const Tensor& old, const TensorList& sides) {
        return op(old, sides[0], sides[1], beta, alpha);
    });
}

}  // namespace

Tensor addmm_(const Tensor& x, const Tensor& a, const Tensor& b, double beta, double alpha) {
    one_type(addmm_in_place_op, {x, a, b});
    return write_sum(addmm_in_place_op, addmm, x, a, b, beta, alpha);
}
Tensor baddbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta, double alpha) {
    one_type(baddbmm_in_place_op, {x, b1, b2});
    return write_sum(baddbmm_in_place_op, baddbmm, x, b1, b2, beta, alpha);
}
Tensor addbmm_(const Tensor& x, const Tensor& b1, const Tensor& b2, double beta, double alpha) {
    one_type(addbmm_in_place_op, {x, b1, b2});
    return write_sum(addbmm_in_place_op, addbmm, x, b1, b2, beta, alpha);
}
Tensor addmv_(const Tensor& x, const Tensor& matrix, const Tensor& vector, double beta,
              double alpha) {
    one_type(addmv_in_place_op, {x, matrix, vector});
    return write_sum(addmv_in_place_op, addmv, x, matrix, vector, beta, alpha);
}
Tensor addr_(const Tensor& x, const Tensor& v1, const Tensor& v2, double beta, double alpha) {
    return write_sum(addr_in_place_op, addr, x, v1, v2, beta, alpha);
}

}  // namespace engine
