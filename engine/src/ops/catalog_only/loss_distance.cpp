#include "ops/catalog_only/loss_distance.h"

#include <limits>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/norm.h"
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

Tensor gaussian_nll_loss(const Tensor& x0, const Tensor& target0, const Tensor& var0,
                         const GaussianOptions& options) {
    return gaussian_nll_loss_op.call(
        x0, target0, var0, options, [&](const Tensor& x, const Tensor& target, const Tensor& var) {
            const DType common = loss_type(gaussian_nll_loss_op, {x, target, var});
            const DType type = type_through_f32(x.device().kind, common);
            const NoAutocast inside(x.device().kind);
            const Tensor given = variance_beside(widened(var, type), x);
            const Tensor v = replaced(given, clamped_variance(given, options.eps));
            const Tensor error = sub(widened(x, type), widened(target, type));
            Tensor losses = mul(add(log(v), div(mul(error, error), v)), 0.5);
            constexpr double half_log_two_pi = 0.91893853320467274178;
            if (options.full) losses = add(losses, half_log_two_pi);
            return to(reduced(losses, options.reduction), type);
        });
}

namespace {

/// Sums over the last dimension of a product.
Tensor inner(const Tensor& a, const Tensor& b) {
    const Tensor product = mul(a, b);
    return sum(product, {-1}, false, product.dtype());
}

}  // namespace

Tensor cosine_embedding_loss(const Tensor& x10, const Tensor& x20, const Tensor& target0,
                             double margin, Reduction reduction) {
    return cosine_embedding_loss_op.call(
        x10, x20, target0, margin, reduction,
        [&](const Tensor& x1, const Tensor& x2, const Tensor& target) {
            const Op& info = cosine_embedding_loss_op;
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
            const Tensor alike =
                where(equal(target, scalar_like(cosine, 1)), add(neg(cosine), 1.0), zero);
            const Tensor apart =
                where(equal(target, scalar_like(cosine, -1)), relu(add(cosine, -margin)), zero);
            return to(reduced(add(alike, apart), reduction), type);
        });
}

namespace {

/// The p-norm of a - b + eps over the last dimension.
Tensor distance(const Tensor& a, const Tensor& b, const TripletOptions& options) {
    const Tensor d = add(sub(a, b), options.eps);
    return norm(d, {-1}, false, d.dtype(), options.p);
}

void check_triplet(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                   const TripletOptions& options) {
    const Op& info = triplet_margin_loss_op;
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

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletOptions& options) {
    check_triplet(anchor, positive, negative, options);
    return wide_loss(triplet_margin_loss_op, options.reduction, anchor, positive, negative, options,
                     [&](const Tensor& a, const Tensor& p, const Tensor& n) {
                         Tensor away = distance(a, n, options);
                         if (options.swap) away = minimum(away, distance(p, n, options));
                         return relu(add(sub(distance(a, p, options), away), options.margin));
                     });
}

}  // namespace engine
