#include "ops/loss/loss_margin.h"

#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/matmul.h"
#include "ops/loss/loss.h"
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
namespace {

TensorList run_hinge(const OpArguments& args) {
    return {hinge_embedding_loss(args.at(0), args.at(1), args.number("margin", 1),
                                 read_reduction(args))};
}
TensorList run_ranking(const OpArguments& args) {
    return {margin_ranking_loss(args.at(0), args.at(1), args.at(2), args.number("margin", 0),
                                read_reduction(args))};
}
TensorList run_soft(const OpArguments& args) {
    return {soft_margin_loss(args.at(0), args.at(1), read_reduction(args))};
}

constexpr const char* margin_worth_f32 =
    "A loss condenses many numbers into one, so it is computed in fp32.";

}  // namespace

const OpInfo hinge_embedding_loss_info{"hinge_embedding_loss",
                                       CastPolicy::f32,
                                       "hinge_embedding_loss(x, target; margin, reduction)",
                                       2,
                                       margin_worth_f32,
                                       run_hinge};
const OpInfo margin_ranking_loss_info{"margin_ranking_loss",
                                      CastPolicy::f32,
                                      "margin_ranking_loss(x1, x2, target; margin, reduction)",
                                      2,
                                      margin_worth_f32,
                                      run_ranking};
const OpInfo soft_margin_loss_info{"soft_margin_loss",
                                   CastPolicy::f32,
                                   "soft_margin_loss(x, target; reduction)",
                                   2,
                                   "The exp inside overflows fp16 above 11.09.",
                                   run_soft};

Tensor hinge_embedding_loss(const Tensor& x0, const Tensor& target0, double margin,
                            Reduction reduction) {
    if (intercepted(hinge_embedding_loss_info))
        return dispatched(
            hinge_embedding_loss_info, [](const auto&... a) { return hinge_embedding_loss(a...); },
            x0, target0, margin, reduction);
    const auto [x, target] = autocast(hinge_embedding_loss_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(hinge_embedding_loss_info, {x});
    const Tensor w = widened(x), zero = constant(w, 0);
    const Tensor apart =
        where(not_equal(target, scalar_like(w, 1)), relu(add(neg(w), margin)), zero);
    const Tensor alike = where(not_equal(target, scalar_like(w, -1)), w, zero);
    return to(reduced(add(apart, alike), reduction), type);
}

Tensor margin_ranking_loss(const Tensor& x10, const Tensor& x20, const Tensor& target0,
                           double margin, Reduction reduction) {
    if (intercepted(margin_ranking_loss_info))
        return dispatched(
            margin_ranking_loss_info, [](const auto&... a) { return margin_ranking_loss(a...); },
            x10, x20, target0, margin, reduction);
    const auto [x1, x2, target] = autocast(margin_ranking_loss_info, x10, x20, target0);
    const NoAutocast inside(x1.device().kind);
    const DType type = loss_type(margin_ranking_loss_info, {x1, x2, target});
    const Tensor order = mul(widened(target, type), sub(widened(x2, type), widened(x1, type)));
    return to(reduced(relu(add(order, margin)), reduction), type);
}

Tensor soft_margin_loss(const Tensor& x0, const Tensor& target0, Reduction reduction) {
    if (intercepted(soft_margin_loss_info))
        return dispatched(
            soft_margin_loss_info, [](const auto&... a) { return soft_margin_loss(a...); }, x0,
            target0, reduction);
    const auto [x, target] = autocast(soft_margin_loss_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(soft_margin_loss_info, {x, target});
    const Tensor side = mul(widened(target, type), widened(x, type));
    return to(reduced(neg(log_sigmoid(side)), reduction), type);
}

namespace {

TensorList run_multi(const OpArguments& args) {
    const std::int64_t p = args.integer("p", 1);
    return {
        multi_margin_loss(args.at(0), args.at(1), args.get(2),
                          {static_cast<int>(p), args.number("margin", 1), read_reduction(args)})};
}
TensorList run_multilabel(const OpArguments& args) {
    return {multilabel_margin_loss(args.at(0), args.at(1), read_reduction(args))};
}

void check_classes(const OpInfo& info, const Tensor& x, const Tensor& target) {
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

constexpr const char* worth_f32 =
    "A loss condenses many numbers into one, so it is computed in fp32.";

}  // namespace

const OpInfo multi_margin_loss_info{"multi_margin_loss",
                                    CastPolicy::f32,
                                    "multi_margin_loss(x, target, weight?; p, margin, reduction)",
                                    2,
                                    worth_f32,
                                    run_multi};
const OpInfo multilabel_margin_loss_info{"multilabel_margin_loss",
                                         CastPolicy::f32,
                                         "multilabel_margin_loss(x, target; reduction)",
                                         2,
                                         worth_f32,
                                         run_multilabel};

Tensor multi_margin_loss(const Tensor& x0, const Tensor& target, const Tensor& weight0,
                         const MultiMarginOptions& options) {
    if (intercepted(multi_margin_loss_info))
        return dispatched(
            multi_margin_loss_info, [](const auto&... a) { return multi_margin_loss(a...); }, x0,
            target, weight0, options);
    const OpInfo& info = multi_margin_loss_info;
    if (options.p != 1 && options.p != 2) {
        throw Error(ErrorCode::value,
                    "multi_margin_loss: p is 1 or 2, not " + std::to_string(options.p));
    }
    const auto [x, weight] = autocast(info, x0, weight0);
    const NoAutocast inside(x.device().kind);
    check_classes(info, x, target);
    const std::int64_t classes = x.size(x.rank() - 1), batch = x.rank() == 2 ? x.size(0) : 1;
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
    Tensor losses = sum(options.p == 1 ? others : mul(others, others), {-1}, true, rows.dtype());
    if (weight.defined()) {
        check_shapes(info, weight.rank() == 1 && weight.size(0) == classes, x, weight);
        losses = mul(losses, score_of_class(hot, reshape(widened(weight), {1, classes})));
    }
    losses = unless_wrong(wrong, losses);
    return over_classes(losses, x, options.reduction, type);
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
    if (intercepted(multilabel_margin_loss_info))
        return dispatched(
            multilabel_margin_loss_info,
            [](const auto&... a) { return multilabel_margin_loss(a...); }, x0, target0, reduction);
    const OpInfo& info = multilabel_margin_loss_info;
    const auto [x] = autocast(info, x0);
    const NoAutocast inside(x.device().kind);
    check_classes(info, x, target0);
    check_shapes(info, x.shape() == target0.shape(), x, target0);
    const DType type = one_type(info, {x});
    const std::int64_t classes = x.size(x.rank() - 1), batch = x.rank() == 2 ? x.size(0) : 1;
    const Tensor rows = widened(x), by_class = reshape(rows, {batch, 1, classes});
    const Tensor target = reshape(target0, {batch, classes});
    const Tensor listed = reshape(before_the_end(target), {batch, classes, 1});
    const Tensor slot = reshape(target, {batch, classes, 1});
    check_class_values(info, where(listed, slot, whole(0, slot)), classes);
    const Tensor hot = logical_and(listed, equal(slot, counting({1, 1, classes}, x.device())));
    const Tensor count = sum(to(hot, DType::f32), {1}, true, DType::f32);  // of a class in the list
    const Tensor beyond = greater_equal(slot, whole(static_cast<double>(classes), slot));
    const Tensor short_of = add(sub(by_class, score_of_class(hot, by_class)), 1.0);
    const Tensor zero = constant(rows, 0);
    const Tensor is_other = logical_and(equal(count, constant(count, 0)), listed);
    const Tensor counts = logical_and(is_other, greater(short_of, zero));
    const Tensor losses = sum(where(counts, short_of, zero), {1, 2}, false, rows.dtype());
    const Tensor wrong = to(logical_and(listed, beyond), DType::f32);
    const Tensor any_wrong = greater(sum(wrong, {1, 2}, false, DType::f32), scalar_like(wrong, 0));
    return over_classes(unless_wrong(any_wrong, losses), x, reduction, type);
}

}  // namespace engine
