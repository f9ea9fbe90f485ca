#include "ops/reduce/softmax.h"

#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "kernels/softmax.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using kernels::SoftmaxForm;

constexpr Op softmax_backward_op("softmax_backward(dy, y)");
constexpr Op log_softmax_backward_op("log_softmax_backward(dy, y)");

Tensor row_sum(const Tensor& x) { return sum(x, {-1}, true, x.dtype()); }

/// Gradients of softmax_backward by dy and y, for g in y's type.
TensorList softmax_second(const Tensor& g, const Saved& saved);
TensorList log_softmax_second(const Tensor& g, const Saved& saved);

/// Along the last dimension: y * (dy - sum(dy * y)), or dy - exp(y) * sum(dy) for `log`.
Tensor backward_last(const Tensor& dy, const Tensor& y, bool log, DType to_dtype) {
    const Tensor a = in_layout(dy, Layout::contiguous), b = in_layout(y, Layout::contiguous);
    const Tensor dx = Tensor::empty(y.shape(), to_dtype, y.device());
    const std::int64_t cols = y.shape().back(), rows = cols > 0 ? y.numel() / cols : 0;
    on(y.device(), kernels::cpu::softmax_backward, kernels::cuda::softmax_backward)(
        dx.array(), a.array(), b.array(), rows, cols, log, current_stream());
    const Tensor inputs[] = {dy, y};
    return record_many(log ? log_softmax_backward_op : softmax_backward_op, inputs, dx,
                       {save(dy), save(y)}, [log](std::span<const Tensor> grads, const Saved& s) {
                           const Tensor g = to(grads[0], s[1].dtype());
                           return log ? log_softmax_second(g, s) : softmax_second(g, s);
                       });
}

TensorList softmax_second(const Tensor& g, const Saved& saved) {
    const Tensor dy = saved[0], y = saved[1];
    TensorList out(2);
    if (saved.needs_gradient(0)) out[0] = backward_last(g, y, false, dy.dtype());
    if (saved.needs_gradient(1)) {
        const Tensor inner = sub(dy, row_sum(mul(dy, y)));
        out[1] = sub(mul(g, inner), mul(dy, row_sum(mul(g, y))));
    }
    return out;
}

TensorList log_softmax_second(const Tensor& g, const Saved& saved) {
    const Tensor dy = saved[0], p = exp(saved[1]);
    TensorList out(2);
    if (saved.needs_gradient(0)) out[0] = sub(g, row_sum(mul(g, p)));
    if (saved.needs_gradient(1)) out[1] = neg(mul(mul(g, p), row_sum(dy)));
    return out;
}

Tensor forward_last(const Op& info, const Tensor& x, SoftmaxForm form, DType out) {
    const Tensor from = in_layout(x, Layout::contiguous);
    const Tensor y = Tensor::empty(x.shape(), out, x.device());
    const std::int64_t cols = x.shape().back(), rows = cols > 0 ? x.numel() / cols : 0;
    on(x.device(), kernels::cpu::softmax_forward, kernels::cuda::softmax_forward)(
        y.array(), from.array(), rows, cols, form, current_stream());
    return record(info, {x}, y, {save_output(y)},
                  [form, type = x.dtype()](const Tensor& dy, const Saved& saved) {
                      return backward_last(dy, saved[0], form == SoftmaxForm::log, type);
                  });
}

Tensor along(const Op& info, const Tensor& x, std::int64_t asked_dim, SoftmaxForm form,
             std::optional<DType> dtype) {
    const int dim = wrap_dim(info.name, asked_dim, x.rank());
    check_floating(info, x);
    const DType out = autocast_result(info, x, dtype);
    // The kernel widens 16 bits to f32 as it reads; any other change of type is a cast beforehand.
    const bool direct = out == x.dtype() || (out == DType::f32 && is_low(x.dtype()));
    const Tensor from = direct ? x : to(x, out);
    if (x.rank() == 0) return reshape(forward_last(info, reshape(from, {1}), form, out), {});
    const int last = x.rank() - 1;
    if (dim == last) return forward_last(info, from, form, out);
    return transpose(forward_last(info, transpose(from, dim, last), form, out), dim, last);
}

}  // namespace

Tensor softmax(const Tensor& x0, std::int64_t dim, std::optional<DType> dtype) {
    return softmax_op.call(x0, dim, dtype, [&](const Tensor& x) {
        return along(softmax_op, x, dim, SoftmaxForm::plain, dtype);
    });
}

Tensor log_softmax(const Tensor& x0, std::int64_t dim, std::optional<DType> dtype) {
    return log_softmax_op.call(x0, dim, dtype, [&](const Tensor& x) {
        return along(log_softmax_op, x, dim, SoftmaxForm::log, dtype);
    });
}

Tensor masked_softmax(const Tensor& scores) {
    return along(softmax_op, scores, -1, SoftmaxForm::masked, {});
}

Tensor softmin(const Tensor& x0, std::int64_t dim, std::optional<DType> dtype) {
    return softmin_op.call(x0, dim, dtype,
                           [&](const Tensor& x) { return softmax(neg(x), dim, dtype); });
}

namespace {

using kernels::ReduceOp;

/// Outside the tape; the plan's dimensions are kept.
Tensor values(const Tensor& x, const ReducePlan& plan) {
    const GradMode off(false);
    const Tensor top = reduced_by(ReduceOp::max, x, plan, true, x.dtype());
    const double infinity = std::numeric_limits<double>::infinity();
    const Tensor endless = equal(abs(top), scalar_like(top, infinity));
    // inf - inf would be NaN; without the shift exp() gives the right infinity or zero.
    const Tensor shift = where(endless, Tensor::scalar(0, x.dtype(), x.device()), top);
    const Tensor total = reduced_by(ReduceOp::sum, exp(sub(x, shift)), plan, true, x.dtype());
    return add(log(total), shift);
}

}  // namespace

Tensor logsumexp(const Tensor& x0, const std::vector<std::int64_t>& dims, bool keepdim) {
    return logsumexp_op.call(x0, dims, keepdim, [&](const Tensor& x) {
        check_floating(logsumexp_op, x);
        const NoAutocast inside(x.device().kind);
        const Tensor wide = widened(x);
        const ReducePlan plan = reduce_plan("logsumexp", x, dims);
        const Tensor y = values(wide, plan);
        const Tensor kept = record(logsumexp_op, {wide}, y, {save(wide), save_output(y)},
                                   [](const Tensor& dy, const Saved& saved) {
                                       return mul(dy, exp(sub(saved[0], saved[1])));
                                   });
        return to(reshape(kept, plan.shape(keepdim)), x.dtype());
    });
}

}  // namespace engine
