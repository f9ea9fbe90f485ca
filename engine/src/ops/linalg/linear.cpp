#include "ops/linalg/linear.h"

#include <utility>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "kernels/reduce.h"
#include "ops/linalg/gemm_operand.h"
#include "ops/linalg/matmul.h"
#include "ops/linalg/quantized_product.h"
#include "ops/pointwise/activation.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

/// Whether product() would multiply these very tensors.
bool are_taken_as_they_are(const Tensor& dy, const Tensor& x) {
    if (dy.dtype() != x.dtype()) return false;
    const auto [a, b] = autocast(mm_op, dy, x);
    return a.dtype() == dy.dtype() && b.dtype() == x.dtype();
}

}  // namespace

std::optional<LayerGradients> layer_gradients(const Tensor& dy, const Tensor& x,
                                              WeightShape shape) {
    if (grad_enabled() || types_are_forced()) return {};
    const bool plain = dy.rank() == 2 && x.rank() == 2 && dy.size(0) == x.size(0) &&
                       dy.is_contiguous() && dy.numel() > 0 && x.numel() > 0;
    if (!plain || !are_taken_as_they_are(dy, x)) return {};
    const std::int64_t in = x.size(1), out = dy.size(1);
    const Tensor bias = Tensor::empty({out}, dy.dtype(), dy.device());
    if (shape == WeightShape::out_in) {
        const Tensor weight = Tensor::empty({out, in}, dy.dtype(), dy.device());
        gemm(weight, operand(dy, true), operand(x, false), {.sums_of_a = bias.data()});
        show_part(mm_op, {dy, x}, weight);
        show_part(sum_op, {dy}, bias);
        return LayerGradients{weight, bias};
    }
    const Tensor weight = Tensor::empty({in, out}, dy.dtype(), dy.device());
    gemm(weight, operand(x, true), operand(dy, false), {.sums_of_b = bias.data()});
    show_part(sum_op, {dy}, bias);
    show_part(mm_op, {x, dy}, weight);
    return LayerGradients{weight, bias};
}

namespace {

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    check_rank(linear_op, weight, 2);
    check_shapes(linear_op, x.rank() > 0 && x.size(x.rank() - 1) == weight.size(1), x, weight);
    if (bias.defined())
        check_shapes(linear_op, bias.rank() == 1 && bias.size(0) == weight.size(0), bias, weight);
}

/// x as (rows, features); x itself in the usual case.
Tensor rows_of(const Tensor& x) {
    if (x.rank() == 2) return x;
    std::int64_t rows = 1;
    for (int i = 0; i + 1 < x.rank(); ++i) rows *= x.size(i);
    return reshape(x, {rows, x.shape().back()});
}

Tensor compute_linear(const Tensor& x, const Tensor& weight, const Tensor& bias,
                      bool relu = false) {
    const GradMode off(false);
    const Tensor rows = rows_of(x);
    Shape shape = x.shape();
    shape[shape.rank() - 1] = weight.size(0);
    Tensor y = Tensor::empty({rows.size(0), weight.size(0)}, x.dtype(), x.device());
    const Tensor dense_bias = bias.defined() ? dense(bias) : bias;
    gemm(y, operand(rows, false), operand(weight, true),
         {.bias = bias.defined() ? dense_bias.data() : nullptr, .relu = relu});
    return x.rank() == 2 ? y : view_of(y, shape, contiguous_strides(shape), 0);
}

/// Sum over the rows: the kernel alone where the sum is not recorded.
Tensor bias_gradient(const Tensor& dy) {
    if (grad_enabled() || types_are_forced()) return sum(dy, {0}, false, dy.dtype());
    const Tensor rows = in_layout(dy, Layout::contiguous);
    const Tensor db = Tensor::empty({dy.size(1)}, dy.dtype(), dy.device());
    on(dy.device(), kernels::cpu::reduce, kernels::cuda::reduce)(
        db.array(), rows.array(), 1, rows.size(0), rows.size(1), kernels::ReduceOp::sum,
        current_stream());
    show_part(sum_op, {dy}, db);
    return db;
}

TensorList linear_gradient(std::span<const Tensor> grads, const Saved& saved) {
    const Tensor dy = rows_of(grads[0]);
    TensorList out(3);
    if (saved.needs_gradient(0)) {
        const Tensor dx = product(dy, false, saved[1], false);
        Shape shape = grads[0].shape();
        shape[shape.rank() - 1] = dx.size(1);
        out[0] = reshape(dx, shape);
    }
    if (saved.needs_gradient(1) && saved.needs_gradient(2)) {
        if (auto both = layer_gradients(dy, rows_of(saved[0]), WeightShape::out_in)) {
            out[1] = std::move(both->weight);
            out[2] = std::move(both->bias);
            return out;
        }
    }
    if (saved.needs_gradient(1)) out[1] = product(dy, true, rows_of(saved[0]), false);
    if (saved.needs_gradient(2)) out[2] = bias_gradient(dy);
    return out;
}

/// relu_backward, in dy's own memory where the backward pass alone holds it: else this node would
/// need room for both at once.
Tensor relu_gradient(const Tensor& dy, const Tensor& y) {
    const bool own = dy.impl().use_count() == 1 && dy.impl()->storage.use_count() == 1;
    const bool alike = dy.dtype() == y.dtype() && dy.is_contiguous() && y.is_contiguous();
    if (grad_enabled() || !own || !alike) return relu_backward(dy, y);
    on(dy.device(), kernels::cpu::binary, kernels::cuda::binary)(
        dy.array(), dy.array(), y.array(), kernels::BinaryOp::relu_backward, current_stream());
    dy.bump_version();
    return dy;
}

constexpr Op linear_relu_op(CastPolicy::low, "linear_relu(x, weight, bias?)",
                            "A linear layer and its relu as one node of the tape.", nullptr);

/// The layer by codes of x, and of the weight from which autocast cast the one that has the
/// gradient. Recorded as `info`.
Tensor quantized_linear(const Op& info, std::shared_ptr<QuantizedLayer> layer, const Tensor& x,
                        const Tensor& weight, const Tensor& bias, const Tensor& uncast_weight,
                        bool relu) {
    QuantizedProducts products(std::move(layer), WeightShape::out_in);
    std::array<Save, 3> kept;
    const Tensor y = [&] {
        const GradMode off(false);
        const Tensor rows = rows_of(x);
        const LayerWeight both{uncast_weight.detach(), weight.detach()};
        const Tensor made = products.forward(rows, both, bias, relu);
        kept = products.saves(rows, both, x.requires_grad(), weight.requires_grad());
        Shape shape = x.shape();
        shape[shape.rank() - 1] = weight.size(0);
        return x.rank() == 2 ? made : view_of(made, shape, contiguous_strides(shape), 0);
    }();
    const Tensor inputs[] = {x, weight, bias};
    return record_many(
        info, inputs, y, {kept[0], kept[1], kept[2], relu ? save_output(y) : Save{}},
        [products, relu](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor whole = relu ? relu_gradient(grads[0], saved[3]) : grads[0];
            const Tensor dy = rows_of(whole);
            auto [dx, dw] =
                products.gradients(dy, saved, saved.needs_gradient(0), saved.needs_gradient(1));
            if (dx.defined() && whole.rank() != 2) {
                Shape shape = whole.shape();
                shape[shape.rank() - 1] = dx.size(1);
                dx = reshape(dx, shape);
            }
            return TensorList{dx, dw, saved.needs_gradient(2) ? bias_gradient(dy) : Tensor()};
        });
}

/// One weight for each feature, so no dimension of results: x weight.
Tensor linear_vector(const Tensor& x, const Tensor& weight, const Tensor& bias) {
    if (bias.defined()) {
        throw Error(ErrorCode::shape,
                    "linear: takes no bias beside a weight of shape " + to_string(weight.shape()));
    }
    const Tensor y = linear(x, reshape(weight, {1, weight.size(0)}));
    Shape shape;
    for (int i = 0; i + 1 < y.rank(); ++i) shape.push_back(y.size(i));
    return reshape(y, shape);
}

}  // namespace

Tensor linear(const Tensor& x0, const Tensor& weight0, const Tensor& bias0) {
    return linear_op.call(x0, weight0, bias0,
                          [&](const Tensor& x, const Tensor& weight, const Tensor& bias) {
                              one_type(linear_op, {x, weight, bias});
                              if (weight.rank() == 1) return linear_vector(x, weight, bias);
                              check_linear(x, weight, bias);
                              if (auto layer = quantized_layer();
                                  layer && x.numel() > 0 && weight.numel() > 0)
                                  return quantized_linear(linear_op, std::move(layer), x, weight,
                                                          bias, weight0, false);
                              const Tensor inputs[] = {x, weight, bias};
                              return record_many(linear_op, inputs, compute_linear(x, weight, bias),
                                                 {weight.requires_grad() ? save(x) : Save{},
                                                  x.requires_grad() ? save(weight) : Save{}},
                                                 linear_gradient);
                          });
}

Tensor linear_relu(const Tensor& x0, const Tensor& weight0, const Tensor& bias0) {
    const auto [x, weight, bias] = autocast(linear_op, x0, weight0, bias0);
    one_type(linear_op, {x, weight, bias});
    check_linear(x, weight, bias);
    if (auto layer = quantized_layer(); layer && x.numel() > 0 && weight.numel() > 0)
        return quantized_linear(linear_relu_op, std::move(layer), x, weight, bias, weight0, true);
    const Tensor y = compute_linear(x, weight, bias, true);
    const Tensor inputs[] = {x, weight, bias};
    return record_many(linear_relu_op, inputs, y,
                       {weight.requires_grad() ? save(x) : Save{},
                        x.requires_grad() ? save(weight) : Save{}, save_output(y)},
                       [](std::span<const Tensor> grads, const Saved& saved) {
                           const Tensor dy = relu_gradient(grads[0], saved[2]);
                           return linear_gradient({&dy, 1}, saved);
                       });
}

}  // namespace engine
