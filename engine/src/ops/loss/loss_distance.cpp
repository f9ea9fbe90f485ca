#include "ops/loss/loss_distance.h"

#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/norm.h"
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

namespace engine {
namespace {

TensorList run_smooth_l1(const OpArguments& args) {
    return {smooth_l1_loss(args.at(0), args.at(1), read_reduction(args), args.number("beta", 1))};
}
TensorList run_huber(const OpArguments& args) {
    return {huber_loss(args.at(0), args.at(1), read_reduction(args), args.number("delta", 1))};
}
TensorList run_gaussian(const OpArguments& args) {
    return {gaussian_nll_loss(
        args.at(0), args.at(1), args.at(2),
        {args.flag("full", false), args.number("eps", 1e-6), read_reduction(args)})};
}

/// near / 2 d^2 below the bend, far (d - bend / 2) above it. Where the square is not used, d is
/// replaced by 0: otherwise it could be infinite there, and its gradient NaN.
Tensor bent(const Tensor& d, const Tensor& below, double bend, double near, double far) {
    const Tensor inner = where(below, d, constant(d, 0));
    return where(below, mul(mul(inner, inner), 0.5 * near), mul(add(d, -0.5 * bend), far));
}

}  // namespace

const OpInfo smooth_l1_loss_info{
    "smooth_l1_loss",
    CastPolicy::f32,
    "smooth_l1_loss(x, target; reduction, beta)",
    2,
    "A loss condenses many numbers into one, so it is computed in fp32.",
    run_smooth_l1};
const OpInfo huber_loss_info{"huber_loss",
                             CastPolicy::f32,
                             "huber_loss(x, target; reduction, delta)",
                             2,
                             "A loss condenses many numbers into one, so it is computed in fp32.",
                             run_huber};
const OpInfo gaussian_nll_loss_info{
    "gaussian_nll_loss",
    CastPolicy::none,
    "gaussian_nll_loss(x, target, var; full, eps, reduction)",
    2,
    "Not on the list itself: the logarithm and the square inside are fp32, so the loss is fp32.",
    run_gaussian};

Tensor smooth_l1_loss(const Tensor& x0, const Tensor& target0, Reduction reduction, double beta) {
    if (intercepted(smooth_l1_loss_info))
        return dispatched(
            smooth_l1_loss_info, [](const auto&... a) { return smooth_l1_loss(a...); }, x0, target0,
            reduction, beta);
    if (!(beta >= 0)) {
        throw Error(ErrorCode::value,
                    "smooth_l1_loss: beta must not be negative, got " + std::to_string(beta));
    }
    const auto [x, target] = autocast(smooth_l1_loss_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(smooth_l1_loss_info, {x, target});
    const Tensor d = abs(sub(widened(x, type), widened(target, type)));
    if (beta == 0) return to(reduced(d, reduction), type);
    const Tensor below = logical_not(greater_equal(d, scalar_like(d, beta)));  // NaN too
    return to(reduced(bent(d, below, beta, 1 / beta, 1), reduction), type);
}

Tensor huber_loss(const Tensor& x0, const Tensor& target0, Reduction reduction, double delta) {
    if (intercepted(huber_loss_info))
        return dispatched(
            huber_loss_info, [](const auto&... a) { return huber_loss(a...); }, x0, target0,
            reduction, delta);
    if (!(delta > 0)) {
        throw Error(ErrorCode::value,
                    "huber_loss: delta must be above 0, got " + std::to_string(delta));
    }
    const auto [x, target] = autocast(huber_loss_info, x0, target0);
    const NoAutocast inside(x.device().kind);
    const DType type = loss_type(huber_loss_info, {x, target});
    const Tensor d = abs(sub(widened(x, type), widened(target, type)));
    const Tensor below = logical_not(greater(d, scalar_like(d, delta)));  // NaN too
    return to(reduced(bent(d, below, delta, 1, delta), reduction), type);
}

namespace {

/// The variance in a shape that broadcasts to x's.
Tensor variance_beside(const Tensor& var, const Tensor& x) {
    if (var.shape() == x.shape() || var.numel() == 1) return var;
    const int last = x.rank() - 1;
    bool fits = var.rank() == last || (var.rank() == last + 1 && var.size(last) == 1);
    for (int i = 0; fits && i < last; ++i) fits = var.size(i) == x.size(i);
    if (!fits) {
        throw Error(ErrorCode::shape, "gaussian_nll_loss: var of shape " + to_string(var.shape()) +
                                          " fits neither x's " + to_string(x.shape()) +
                                          " nor that without its last dimension");
    }
    Shape shape = x.shape();
    shape[last] = 1;
    return reshape(var, shape);
}

/// max(var, eps), outside the tape; NaN below 0.
Tensor clamped_variance(const Tensor& var, double eps) {
    const GradMode off(false);
    const Tensor v = var.detach(), zero = constant(v, 0);
    check_values({"gaussian_nll_loss: a variance of ", " is negative", {}, false}, v, 0,
                 std::numeric_limits<double>::infinity());
    const Tensor held = where(less(v, scalar_like(v, eps)), constant(v, eps), v);
    const Tensor nan = constant(v, std::numeric_limits<double>::quiet_NaN());
    return where(less(v, zero), nan, held);
}

}  // namespace

Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var,
                         const GaussianOptions& options) {
    if (intercepted(gaussian_nll_loss_info))
        return dispatched(
            gaussian_nll_loss_info, [](const auto&... a) { return gaussian_nll_loss(a...); }, x,
            target, var, options);
    const DType common = loss_type(gaussian_nll_loss_info, {x, target, var});
    const DType type = type_through_f32(x.device().kind, common);
    const NoAutocast inside(x.device().kind);
    const Tensor given = variance_beside(widened(var, type), x);
    const Tensor v = replaced(given, clamped_variance(given, options.eps));
    const Tensor error = sub(widened(x, type), widened(target, type));
    Tensor losses = mul(add(log(v), div(mul(error, error), v)), 0.5);
    constexpr double half_log_two_pi = 0.91893853320467274178;
    if (options.full) losses = add(losses, half_log_two_pi);
    return to(reduced(losses, options.reduction), type);
}

namespace {

TensorList run_cosine(const OpArguments& args) {
    return {cosine_embedding_loss(args.at(0), args.at(1), args.at(2), args.number("margin", 0),
                                  read_reduction(args))};
}
TensorList run_triplet(const OpArguments& args) {
    return {triplet_margin_loss(
        args.at(0), args.at(1), args.at(2),
        {args.number("margin", 1), args.number("p", 2), args.number("eps", 1e-6),
         args.flag("swap", false), read_reduction(args)})};
}

/// Sums over the last dimension of a product.
Tensor inner(const Tensor& a, const Tensor& b) {
    const Tensor product = mul(a, b);
    return sum(product, {-1}, false, product.dtype());
}

}  // namespace

const OpInfo cosine_embedding_loss_info{"cosine_embedding_loss",
                                        CastPolicy::f32,
                                        "cosine_embedding_loss(x1, x2, target; margin, reduction)",
                                        2,
                                        "Its sums of squares soon overflow fp16.",
                                        run_cosine};
const OpInfo triplet_margin_loss_info{
    "triplet_margin_loss",
    CastPolicy::f32,
    "triplet_margin_loss(anchor, positive, negative; margin, p, eps, swap, reduction)",
    2,
    "Its sums of powers soon overflow fp16.",
    run_triplet};

Tensor cosine_embedding_loss(const Tensor& x10, const Tensor& x20, const Tensor& target0,
                             double margin, Reduction reduction) {
    if (intercepted(cosine_embedding_loss_info))
        return dispatched(
            cosine_embedding_loss_info,
            [](const auto&... args) { return cosine_embedding_loss(args...); }, x10, x20, target0,
            margin, reduction);
    const OpInfo& info = cosine_embedding_loss_info;
    const auto [x1, x2, target] = autocast(info, x10, x20, target0);
    const NoAutocast inside(x1.device().kind);
    if (target.rank() > 1) check_rank(info, target, 1);
    check_rank(info, x1, target.rank() + 1);
    check_rank(info, x2, target.rank() + 1);
    const DType type = loss_type(info, {x1, x2});
    const Tensor a = widened(x1, type), b = widened(x2, type);
    // PyTorch's epsilon: keeps a zero vector from giving 0 / 0.
    constexpr double eps = 1e-12;
    const Tensor squares = mul(add(inner(a, a), eps), add(inner(b, b), eps));
    const Tensor cosine = div(inner(a, b), sqrt(squares));
    const Tensor zero = constant(cosine, 0);
    const Tensor alike = where(equal(target, scalar_like(cosine, 1)), add(neg(cosine), 1.0), zero);
    const Tensor apart =
        where(equal(target, scalar_like(cosine, -1)), relu(add(cosine, -margin)), zero);
    return to(reduced(add(alike, apart), reduction), type);
}

namespace {

/// The p-norm of a - b + eps over the last dimension.
Tensor distance(const Tensor& a, const Tensor& b, const TripletOptions& options) {
    const Tensor d = add(sub(a, b), options.eps);
    return norm(d, {-1}, false, d.dtype(), options.p);
}

void check_triplet(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                   const TripletOptions& options) {
    const OpInfo& info = triplet_margin_loss_info;
    if (!(options.p > 0)) {
        throw Error(ErrorCode::value,
                    "triplet_margin_loss: p must be above 0, got " + std::to_string(options.p));
    }
    if (!(options.margin > 0)) {
        throw Error(ErrorCode::value, "triplet_margin_loss: margin must be above 0, got " +
                                          std::to_string(options.margin));
    }
    check_shapes(info, anchor.rank() == positive.rank() && anchor.rank() > 0, anchor, positive);
    check_shapes(info, anchor.rank() == negative.rank(), anchor, negative);
}

}  // namespace

Tensor triplet_margin_loss(const Tensor& anchor0, const Tensor& positive0, const Tensor& negative0,
                           const TripletOptions& options) {
    if (intercepted(triplet_margin_loss_info))
        return dispatched(
            triplet_margin_loss_info,
            [](const auto&... args) { return triplet_margin_loss(args...); }, anchor0, positive0,
            negative0, options);
    const OpInfo& info = triplet_margin_loss_info;
    const auto [anchor, positive, negative] = autocast(info, anchor0, positive0, negative0);
    const NoAutocast inside(anchor.device().kind);
    check_triplet(anchor, positive, negative, options);
    const DType type = loss_type(info, {anchor, positive, negative});
    const Tensor a = widened(anchor, type), p = widened(positive, type),
                 n = widened(negative, type);
    Tensor away = distance(a, n, options);
    if (options.swap) away = minimum(away, distance(p, n, options));
    const Tensor losses = relu(add(sub(distance(a, p, options), away), options.margin));
    return to(reduced(losses, options.reduction), type);
}

}  // namespace engine
