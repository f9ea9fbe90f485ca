#include "ops/linalg/similarity.h"

#include <cmath>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/rounding.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

TensorList run_cosine(const OpArguments& args) {
    return {cosine_similarity(args.at(0), args.at(1), args.integer("dim", 1),
                              args.number("eps", 1e-8))};
}
TensorList run_normalize(const OpArguments& args) {
    return {normalize(args.at(0), norm_order(normalize_info, args, "p", 2), args.integer("dim", 1),
                      args.number("eps", 1e-12))};
}
TensorList run_renorm(const OpArguments& args) {
    if (!args.has("maxnorm")) throw Error(ErrorCode::value, "renorm: maxnorm is missing");
    return {renorm(args.at(0), norm_order(renorm_info, args, "p", 2), args.integer("dim", 0),
                   args.number("maxnorm", 0))};
}

const OpInfo floor_op{"norm_floor", CastPolicy::none, "norm_floor(x; eps)", 2,
                      "Keeps its input's type."};

/// max(x, eps) whose gradient is that of x everywhere.
Tensor floored(const Tensor& x, double eps) {
    Tensor y;
    {
        const GradMode off(false);
        y = maximum(x, scalar_like(x, eps));
    }
    return record(floor_op, {x}, y, {}, [](const Tensor& dy, const Saved&) { return dy; });
}

/// x / max(|x|, eps) along dim.
Tensor direction(const Tensor& x, std::int64_t dim, double eps) {
    const Tensor n =
        norm_of(cosine_similarity_info, x, reduce_plan("cosine_similarity", x, {dim}), 2);
    return div(x, floored(n, eps));
}

/// Factors that shorten slices whose norm n is above the limit.
struct Shortening {
    Tensor over, factor;  // factor = limit / (n + 1e-7)
};
Shortening shortening(const Tensor& n, double maxnorm) {
    const Tensor limit = scalar_like(n, maxnorm);
    return {greater(n, limit), div(limit, add(n, 1e-7))};
}

/// x of f32 or f64 with slices across `dims` scaled down to maxnorm. A slice that is not scaled
/// passes dy on, even if its norm is NaN.
Tensor scaled_down(const Tensor& x, double p, const std::vector<std::int64_t>& dims,
                   double maxnorm) {
    const auto norm_of_slices = [dims, p](const Tensor& t) {
        return norm_of(renorm_info, t, reduce_plan("renorm", t, dims), p);
    };
    Tensor y;
    {
        const GradMode off(false);
        const auto [over, factor] = shortening(norm_of_slices(x), maxnorm);
        y = where(over, mul(x, factor), x);
    }
    return record(renorm_info, {x}, y, {save(x)},
                  [norm_of_slices, dims, p, maxnorm](const Tensor& dy, const Saved& saved) {
                      const Tensor t = saved[0], n = norm_of_slices(t);
                      const auto [over, factor] = shortening(n, maxnorm);
                      const Tensor along = sum(mul(t, dy), dims, true, t.dtype());
                      const Tensor by_norm = div(norm_gradient(along, t, n, dims, p), add(n, 1e-7));
                      return where(over, mul(factor, sub(dy, by_norm)), dy);
                  });
}

}  // namespace

const OpInfo cosine_similarity_info{"cosine_similarity",
                                    CastPolicy::f32,
                                    "cosine_similarity(x1, x2; dim, eps)",
                                    2,
                                    "Norms are sums of squares, and eps = 1e-8 is zero in fp16.",
                                    run_cosine};
const OpInfo normalize_info{
    "normalize",
    CastPolicy::none,
    "normalize(x; p, dim, eps)",
    2,
    "Not on the list itself: the norm inside is fp32, and so is the quotient.",
    run_normalize};
const OpInfo renorm_info{"renorm",
                         CastPolicy::f32,
                         "renorm(x; p, dim, maxnorm)",
                         2,
                         "Its norms are sums of powers, which soon overflow fp16.",
                         run_renorm};

Tensor cosine_similarity(const Tensor& a0, const Tensor& b0, std::int64_t dim, double eps) {
    if (intercepted(cosine_similarity_info))
        return dispatched(
            cosine_similarity_info, [](const auto&... a) { return cosine_similarity(a...); }, a0,
            b0, dim, eps);
    const auto [a, b] = autocast(cosine_similarity_info, a0, b0);
    check_floating(cosine_similarity_info, a);
    check_floating(cosine_similarity_info, b);
    const NoAutocast inside(a.device().kind);
    const DType out = result_type(a, b), wide = wide_type(out);
    const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
    const Tensor left = direction(expand(to(a, wide), shape), dim, eps);
    const Tensor right = direction(expand(to(b, wide), shape), dim, eps);
    return to(sum(mul(left, right), {dim}, false, wide), out);
}

Tensor normalize(const Tensor& x, double p, std::int64_t dim, double eps) {
    if (intercepted(normalize_info))
        return dispatched(
            normalize_info, [](const auto&... a) { return normalize(a...); }, x, p, dim, eps);
    check_floating(normalize_info, x);
    const DType out = autocast_result(linalg_vector_norm_info, x, {});
    const NoAutocast inside(x.device().kind);
    const Tensor wide = widened(x);
    const ReducePlan plan = reduce_plan("normalize", x, {dim});
    if (p < 0 || std::isinf(p)) check_not_empty("normalize", x, plan);
    const Tensor n = norm_of(linalg_vector_norm_info, wide, plan, p);
    return to(div(wide, clamp(n, eps, {})), out);
}

Tensor renorm(const Tensor& x0, double p, std::int64_t asked_dim, double maxnorm) {
    if (intercepted(renorm_info))
        return dispatched(
            renorm_info, [](const auto&... a) { return renorm(a...); }, x0, p, asked_dim, maxnorm);
    const auto [x] = autocast(renorm_info, x0);
    check_floating(renorm_info, x);
    if (!(p > 0)) throw Error(ErrorCode::value, "renorm: p must be above 0: " + std::to_string(p));
    if (!(maxnorm >= 0))
        throw Error(ErrorCode::value,
                    "renorm: maxnorm must not be negative: " + std::to_string(maxnorm));
    if (x.rank() < 2)
        throw Error(ErrorCode::shape,
                    "renorm: x needs two dimensions or more, not shape " + to_string(x.shape()));
    const NoAutocast inside(x.device().kind);
    const int dim = wrap_dim("renorm", asked_dim, x.rank());
    std::vector<std::int64_t> others;
    for (int i = 0; i < x.rank(); ++i)
        if (i != dim) others.push_back(i);
    if (x.numel() == 0) return x;
    return to(scaled_down(widened(x), p, others, maxnorm), x.dtype());
}

}  // namespace engine
