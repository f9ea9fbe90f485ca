#include "ops/loss/cross_entropy.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "kernels/softmax.h"
#include "ops/index/index_walk.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/softmax.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/gradient_shortcuts.h"
#include "tensor/layout.h"
#include "tensor/result_type.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

void check_target(const Op& info, const Tensor& x, const Tensor& target) {
    Shape expected = x.rank() < 2 ? Shape{} : Shape{x.size(0)};
    for (int i = 2; i < x.rank(); ++i) expected.push_back(x.size(i));
    check_shapes(info, x.rank() > 0 && target.shape() == expected, x, target);
    if (target.dtype() != DType::i64) {
        throw Error(ErrorCode::dtype, std::string(info.name) + ": the target must be i64, not " +
                                          name(target.dtype()));
    }
}

/// x with its classes last, as (rows, classes).
Tensor rows_of(const Tensor& x) {
    if (x.rank() == 2) return x;
    if (x.rank() == 1) return reshape(x, {1, x.size(0)});
    Dims order{0};
    for (int i = 2; i < x.rank(); ++i) order.push_back(i);
    order.push_back(1);
    std::int64_t rows = 1;
    for (int i = 0; i < x.rank(); ++i) rows *= i == 1 ? 1 : x.size(i);
    return reshape(permute(x, order), {rows, x.size(1)});
}

/// Which rows count, as bool (rows).
Tensor counted(const Tensor& target, std::int64_t ignore_index) {
    return not_equal(
        target, Tensor::full({}, static_cast<double>(ignore_index), DType::i64, target.device()));
}

/// True at each row's class, as bool (rows, classes).
Tensor one_hot(const Tensor& target, std::int64_t classes) {
    return equal(reshape(target, {target.numel(), 1}), counting({1, classes}, target.device()));
}

/// 1, but NaN for an out-of-range class.
Tensor one_or_nan(const Tensor& target, std::int64_t classes, DType type) {
    return select_rows(Tensor::full({classes}, 1, type, target.device()), 0, target);
}

/// The losses of the rows and their weights. Ignored rows have 0 in both; the loss of an
/// out-of-range class is NaN.
struct RowLosses {
    Tensor losses, weights;
};

/// Sums of the rows of `x` at the true places of mask.
Tensor picked(const Tensor& mask, const Tensor& x) {
    const Tensor chosen = where(mask, x, zero_like(x));
    return sum(chosen, {1}, false, chosen.dtype());
}

RowLosses row_losses(const Tensor& x, const Tensor& target, const Tensor& weight,
                     std::int64_t ignore_index) {
    const std::int64_t classes = x.size(1);
    const Tensor hot = one_hot(target, classes), counts = counted(target, ignore_index);
    const Tensor one = Tensor::full({1, classes}, 1, x.dtype(), x.device());
    const Tensor by_class = weight.defined() ? reshape(weight, {1, classes}) : one;
    const Tensor zero = zero_like(x);
    const Tensor weights = where(counts, picked(hot, by_class), zero);
    const Tensor found = mul(neg(picked(hot, x)), one_or_nan(target, classes, x.dtype()));
    const Tensor losses = where(counts, found, zero);
    return {weight.defined() ? mul(losses, weights) : losses, weights};
}

/// Rounded to the losses' type once: the sum over a batch may exceed f16 where the mean does not.
Tensor reduced_rows(const RowLosses& rows, Reduction reduction, const Shape& shape) {
    if (reduction == Reduction::none) return reshape(rows.losses, shape);
    const DType type = rows.losses.dtype(), wide = wide_type(type);
    const Tensor total = sum(rows.losses, {}, false, wide);
    if (reduction == Reduction::sum) return to(total, type);
    return to(div(total, sum(rows.weights, {}, false, wide)), type);
}

}  // namespace

Tensor nll_loss(const Tensor& x0, const Tensor& target0, const Tensor& weight0,
                const ClassLossOptions& options) {
    return nll_loss_op.call(
        x0, target0, weight0, options,
        [&](const Tensor& x, const Tensor& target, const Tensor& weight) {
            check_target(nll_loss_op, x, target);
            one_type(nll_loss_op, {x, weight});
            const NoAutocast inside(x.device().kind);
            const Tensor rows = rows_of(x), flat = dense(reshape(target, {target.numel()}));
            check_class_values(nll_loss_op, flat, rows.size(1), options.ignore_index);
            return reduced_rows(row_losses(rows, flat, weight, options.ignore_index),
                                options.reduction, target.shape());
        });
}

namespace {

constexpr Op cross_entropy_backward_op(
    "cross_entropy_backward(scale, x; target)",
    "Computed from fp32 log-probabilities, rounded to the logits' type once.");

/// Tensors that the fused kernel keeps for the gradient besides the logits.
struct Fused {
    Tensor stats, target;  // each row's maximum and logarithm of its sum of exponentials
    std::int64_t ignore_index;
};

/// scale * (softmax(x) - one_hot(target)) by row; scale has one element or one a row. Overwrites x
/// if nobody else can read it: with a large vocabulary a separate gradient would be the largest
/// tensor of a step.
Tensor fused_backward(const Tensor& scale, const Tensor& x, const Fused& f) {
    const Tensor own = reuse_saved(x), from = in_layout(x, Layout::contiguous);
    const Tensor dx = own.defined() && own.is_contiguous()
                          ? own
                          : Tensor::empty(x.shape(), x.dtype(), x.device());
    const Tensor dense_scale = dense(scale);
    on(x.device(), kernels::cpu::cross_entropy_backward, kernels::cuda::cross_entropy_backward)(
        dx.array(), dense_scale.array(), from.array(), f.stats.array(), f.target.array(), x.size(0),
        x.size(1), f.ignore_index, current_stream());
    const Tensor inputs[] = {scale, x};
    return record_many(
        cross_entropy_backward_op, inputs, dx, {save(scale), save(x)},
        [target = f.target, ignore = f.ignore_index](std::span<const Tensor> grads,
                                                     const Saved& saved) {
            const Tensor factor = saved[0], logits = saved[1];
            const Tensor p = softmax(logits, 1, factor.dtype());
            const Tensor counts = reshape(counted(target, ignore), {target.numel(), 1});
            const Tensor g = where(counts, to(grads[0], factor.dtype()), zero_like(factor));
            TensorList out(2);
            if (saved.needs_gradient(0)) {
                const Tensor slope = sub(p, to(one_hot(target, logits.size(1)), factor.dtype()));
                const Tensor rows = sum(mul(g, slope), {1}, false, factor.dtype());
                out[0] = factor.rank() == 0 ? sum(rows, {}, false, factor.dtype()) : rows;
            }
            if (saved.needs_gradient(1)) {
                const Tensor inner = sub(g, sum(mul(g, p), {1}, true, factor.dtype()));
                const Tensor by_row =
                    factor.rank() == 0 ? factor : reshape(factor, {factor.numel(), 1});
                out[1] = mul(mul(p, inner), by_row);
            }
            return out;
        });
}

/// The factor from a sum over rows to the mean over the rows that count: a number on the CPU, and a
/// 0-d tensor on a GPU, where the count stays on the device.
struct MeanFactor {
    double number = 1;
    Tensor tensor;

    Tensor times(const Tensor& x) const {
        if (tensor.defined()) return mul(x, tensor);
        if (number == 1) return x;
        return x.dtype() == DType::f32 && !grad_enabled() && !types_are_forced() ? scaled(x)
                                                                                 : mul(x, number);
    }

private:
    /// The product off the tape and without a tensor for the number; x on the CPU.
    Tensor scaled(const Tensor& x) const {
        const Tensor from = dense(x), y = empty_like(from);
        const auto factor = static_cast<float>(number);
        kernels::cpu::scale_by(y.array(), from.array(), &factor, {});
        show_part(mul_op, {x}, y);
        return y;
    }
};

/// The factor of a mean over the rows that count, on the CPU.
MeanFactor mean_factor(const Tensor& target, std::int64_t ignore_index) {
    const auto* classes = target.data_as<std::int64_t>();
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < target.numel(); ++i) count += classes[i] != ignore_index ? 1 : 0;
    return {1 / static_cast<double>(count), {}};
}

/// The mean of the rows' losses on a GPU, and its factor, by one kernel.
Tensor mean_on_device(MeanFactor& mean, const Tensor& losses, const Tensor& target,
                      std::int64_t ignore_index, DType type) {
    mean.tensor = Tensor::empty({}, losses.dtype(), losses.device());
    const Tensor y = Tensor::empty({}, type, losses.device());
    kernels::cuda::cross_entropy_mean(y.array(), mean.tensor.array(), losses.array(),
                                      target.array(), ignore_index, current_stream());
    return y;
}

/// The reduction of the rows' losses, outside the tape.
Tensor total_of(const Tensor& losses, Reduction reduction, const MeanFactor& mean, DType type) {
    if (reduction == Reduction::none) return to(losses, type);
    return to(mean.times(sum(losses, {}, false, losses.dtype())), type);
}

/// x (rows, classes), target (rows): one kernel forward, one back.
Tensor fused_cross_entropy(const Tensor& x, const Tensor& target, const ClassLossOptions& options) {
    const DType type = autocast_result(log_softmax_op, x, {}), wide = wide_type(x.dtype());
    const Tensor from = in_layout(x, Layout::contiguous);
    const Fused f{Tensor::empty({x.size(0), 2}, wide, x.device()),
                  in_layout(target, Layout::contiguous), options.ignore_index};
    const Tensor losses = Tensor::empty(target.shape(), wide, x.device());
    const bool waits = x.device().kind == Device::Kind::cpu;
    const kernels::DeferredErrorPlace refused =
        waits ? kernels::DeferredErrorPlace{}
              : deferred_error_place(wrong_class(cross_entropy_op, x.size(1)), x.device());
    if (!on(x.device(), kernels::cpu::cross_entropy_forward, kernels::cuda::cross_entropy_forward)(
            f.stats.array(), losses.array(), from.array(), f.target.array(), x.size(0), x.size(1),
            options.ignore_index, refused, current_stream())) {
        check_class_values(cross_entropy_op, f.target, x.size(1), options.ignore_index);
    }
    MeanFactor mean;
    Tensor y;
    if (options.reduction == Reduction::mean && !waits) {
        y = mean_on_device(mean, losses, f.target, options.ignore_index, type);
    } else {
        const GradMode off(false);
        if (options.reduction == Reduction::mean)
            mean = mean_factor(f.target, options.ignore_index);
        y = total_of(losses, options.reduction, mean, type);
    }
    const Tensor inputs[] = {x};
    return record_many(
        cross_entropy_op, inputs, y, {save(x), save(f.stats), save(f.target)},
        [mean, ignore = options.ignore_index](std::span<const Tensor> grads, const Saved& saved) {
            const Fused kept{saved[1], saved[2], ignore};
            const Tensor dy = to(grads[0], kept.stats.dtype());
            return TensorList{fused_backward(mean.times(dy), saved[0], kept)};
        });
}

/// The share of label smoothing: every class is a target a little.
Tensor smooth_loss(const Tensor& log_probs, const Tensor& target, const Tensor& weight,
                   const ClassLossOptions& options, const Shape& shape) {
    const Tensor weighted = weight.defined() ? mul(log_probs, weight) : log_probs;
    const Tensor losses = neg(sum(weighted, {1}, false, log_probs.dtype()));
    const RowLosses rows = row_losses(log_probs, target, weight, options.ignore_index);
    const Tensor kept = where(counted(target, options.ignore_index), losses, zero_like(losses));
    return reduced_rows({kept, rows.weights}, options.reduction, shape);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits0, const Tensor& target0, const Tensor& weight0,
                     const ClassLossOptions& options) {
    return cross_entropy_op.call(
        logits0, target0, weight0, options,
        [&](const Tensor& logits, const Tensor& target, const Tensor& weight) {
            check_floating(cross_entropy_op, logits);
            check_target(cross_entropy_op, logits, target);
            const Tensor x = rows_of(logits), rows = reshape(target, {target.numel()});
            if (!weight.defined() && options.label_smoothing == 0) {
                const Tensor loss = fused_cross_entropy(x, rows, options);
                return options.reduction == Reduction::none ? reshape(loss, target.shape()) : loss;
            }
            const Tensor log_probs = log_softmax(x, 1);
            const Tensor hard = nll_loss(log_probs, rows, weight, options);
            const Tensor shaped =
                options.reduction == Reduction::none ? reshape(hard, target.shape()) : hard;
            if (options.label_smoothing == 0) return shaped;
            const NoAutocast inside(x.device().kind);
            const Tensor class_weight = weight.defined() ? to(weight, log_probs.dtype()) : weight;
            const Tensor soft = smooth_loss(log_probs, rows, class_weight, options, target.shape());
            return add(mul(shaped, 1 - options.label_smoothing),
                       mul(soft, options.label_smoothing / static_cast<double>(x.size(1))));
        });
}

}  // namespace engine
