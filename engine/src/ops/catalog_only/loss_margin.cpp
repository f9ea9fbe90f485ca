#include "ops/catalog_only/loss_margin.h"

#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/pointwise.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/check_values.h"
#include "tensor/result_type.h"
#include "tensor/transfer.h"

namespace engine {

Tensor hinge_embedding_loss(const Tensor& x0, const Tensor& target0, double margin,
                            Reduction reduction) {
    return hinge_embedding_loss_op.call(
        x0, target0, margin, reduction, [&](const Tensor& x, const Tensor& target) {
            const NoAutocast inside(x.device().kind);
            const DType type = loss_type(hinge_embedding_loss_op, {x});
            const Tensor w = widened(x), zero = constant(w, 0);
            const Tensor apart =
                where(not_equal(target, scalar_like(w, 1)), relu(add(neg(w), margin)), zero);
            const Tensor alike = where(not_equal(target, scalar_like(w, -1)), w, zero);
            return to(reduced(add(apart, alike), reduction), type);
        });
}

Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target, double margin,
                           Reduction reduction) {
    return wide_loss(margin_ranking_loss_op, reduction, x1, x2, target, margin, reduction,
                     [&](const Tensor& a, const Tensor& b, const Tensor& order) {
                         return relu(add(mul(order, sub(b, a)), margin));
                     });
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
    return wide_loss(soft_margin_loss_op, reduction, x, target, reduction,
                     [](const Tensor& w, const Tensor& t) { return neg(log_sigmoid(mul(t, w))); });
}

namespace {

void check_classes(const Op& info, const Tensor& x, const Tensor& target) {
    if (target.dtype() != DType::i64) {
        throw Error(ErrorCode::dtype, std::string(info.name) + ": the target must be i64, not " +
                                          name(target.dtype()));
    }
    if (x.rank() != 1) check_rank(info, x, 2);
}

Tensor whole(double value, const Tensor& like) {
    return Tensor::full({}, value, DType::i64, like.device());
}

/// The sum over the last dimension of x at the true places of `mask`, kept as a size of 1.
Tensor score_of_class(const Tensor& mask, const Tensor& x) {
    return sum(where(mask, x, constant(x, 0)), {-1}, true, x.dtype());
}

/// x, but NaN where `wrong`.
Tensor unless_wrong(const Tensor& wrong, const Tensor& x) {
    return where(wrong, constant(x, std::numeric_limits<double>::quiet_NaN()), x);
}

/// The rows' sums divided by the number of classes, in the shape of a batch of `x`, reduced.
Tensor over_classes(const Tensor& rows, const Tensor& x, Reduction reduction, DType type) {
    const Tensor by_class = div(rows, scalar_like(rows, static_cast<double>(x.size(x.rank() - 1))));
    const Shape shape = x.rank() == 2 ? Shape{x.size(0)} : Shape{};
    return to(reduced(reshape(by_class, shape), reduction), type);
}

}  // namespace

Tensor multi_margin_loss(const Tensor& x0, const Tensor& target0, const Tensor& weight0,
                         const MultiMarginOptions& options) {
    return multi_margin_loss_op.call(
        x0, target0, weight0, options,
        [&](const Tensor& x, const Tensor& target, const Tensor& weight) {
            const Op& info = multi_margin_loss_op;
            if (options.p != 1 && options.p != 2) {
                throw Error(ErrorCode::value,
                            "multi_margin_loss: p is 1 or 2, not " + std::to_string(options.p));
            }
            const NoAutocast inside(x.device().kind);
            check_classes(info, x, target);
            const std::int64_t classes = x.size(x.rank() - 1),
                               batch = x.rank() == 2 ? x.size(0) : 1;
            check_shapes(info, target.numel() == batch && target.rank() <= 1, x, target);
            const DType type = one_type(info, {x, weight});
            const Tensor rows = reshape(widened(x), {batch, classes});
            const Tensor label = reshape(target, {batch, 1});
            check_class_values(info, label, classes);
            const Tensor hot = equal(label, counting({1, classes}, x.device()));
            const Tensor beyond = greater_equal(label, whole(static_cast<double>(classes), label));
            const Tensor wrong = logical_or(less(label, whole(0, label)), beyond);
            const Tensor short_of = add(sub(rows, score_of_class(hot, rows)), options.margin);
            const Tensor zero = constant(rows, 0);
            // Compared and not clamped, as in PyTorch: a NaN is not above 0 and adds nothing.
            const Tensor counts = logical_and(logical_not(hot), greater(short_of, zero));
            const Tensor others = where(counts, short_of, zero);
            Tensor losses =
                sum(options.p == 1 ? others : mul(others, others), {-1}, true, rows.dtype());
            if (weight.defined()) {
                check_shapes(info, weight.rank() == 1 && weight.size(0) == classes, x, weight);
                losses = mul(losses, score_of_class(hot, reshape(widened(weight), {1, classes})));
            }
            losses = unless_wrong(wrong, losses);
            return over_classes(losses, x, options.reduction, type);
        });
}

namespace {

/// True up to the first negative number of each row (batch, slots).
Tensor before_the_end(const Tensor& target) {
    const std::int64_t slots = target.size(1);
    const Tensor host = Tensor::empty({slots, slots}, DType::f32, Device{});
    for (std::int64_t i = 0; i < slots; ++i)
        for (std::int64_t j = 0; j < slots; ++j)
            host.data_as<float>()[i * slots + j] = i <= j ? 1.f : 0.f;
    const Tensor up_to = constant_on(target.device(), host);
    // How many of the slots so far are negative; small whole numbers, exact in f32.
    const Tensor ends = mm(to(less(target, whole(0, target)), DType::f32), up_to);
    return equal(ends, constant(ends, 0));
}

}  // namespace

Tensor multilabel_margin_loss(const Tensor& x0, const Tensor& target0, Reduction reduction) {
    return multilabel_margin_loss_op.call(
        x0, target0, reduction, [&](const Tensor& x, const Tensor& lists) {
            const Op& info = multilabel_margin_loss_op;
            const NoAutocast inside(x.device().kind);
            check_classes(info, x, lists);
            check_shapes(info, x.shape() == lists.shape(), x, lists);
            const DType type = one_type(info, {x});
            const std::int64_t classes = x.size(x.rank() - 1),
                               batch = x.rank() == 2 ? x.size(0) : 1;
            const Tensor rows = widened(x), by_class = reshape(rows, {batch, 1, classes});
            const Tensor target = reshape(lists, {batch, classes});
            const Tensor listed = reshape(before_the_end(target), {batch, classes, 1});
            const Tensor slot = reshape(target, {batch, classes, 1});
            check_class_values(info, where(listed, slot, whole(0, slot)), classes);
            const Tensor hot =
                logical_and(listed, equal(slot, counting({1, 1, classes}, x.device())));
            const Tensor count =
                sum(to(hot, DType::f32), {1}, true, DType::f32);  // of a class in the list
            const Tensor beyond = greater_equal(slot, whole(static_cast<double>(classes), slot));
            const Tensor short_of = add(sub(by_class, score_of_class(hot, by_class)), 1.0);
            const Tensor zero = constant(rows, 0);
            const Tensor is_other = logical_and(equal(count, constant(count, 0)), listed);
            const Tensor counts = logical_and(is_other, greater(short_of, zero));
            const Tensor losses = sum(where(counts, short_of, zero), {1, 2}, false, rows.dtype());
            const Tensor wrong = to(logical_and(listed, beyond), DType::f32);
            const Tensor any_wrong =
                greater(sum(wrong, {1, 2}, false, DType::f32), scalar_like(wrong, 0));
            return over_classes(unless_wrong(any_wrong, losses), x, reduction, type);
        });
}

}  // namespace engine
