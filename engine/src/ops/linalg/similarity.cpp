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

constexpr Op norm_floor_op("norm_floor(x; eps)", "Keeps its input's type.");

/// max(x, eps) whose gradient is that of x everywhere.
Tensor floored(const Tensor& x, double eps) {
    Tensor y;
    {
        const GradMode off(false);
        y = maximum(x, scalar_like(x, eps));
    }
    return record(norm_floor_op, {x}, y, {}, [](const Tensor& dy, const Saved&) { return dy; });
}

/// x / max(|x|, eps) along dim.
Tensor direction(const Tensor& x, std::int64_t dim, double eps) {
    const Tensor n =
        norm_of(cosine_similarity_op, x, reduce_plan("cosine_similarity", x, {dim}), 2);
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
        return norm_of(renorm_op, t, reduce_plan("renorm", t, dims), p);
    };
    Tensor y;
    {
        const GradMode off(false);
        const auto [over, factor] = shortening(norm_of_slices(x), maxnorm);
        y = where(over, mul(x, factor), x);
    }
    return record(renorm_op, {x}, y, {save(x)},
                  [norm_of_slices, dims, p, maxnorm](const Tensor& dy, const Saved& saved) {
                      const Tensor t = saved[0], n = norm_of_slices(t);
                      const auto [over, factor] = shortening(n, maxnorm);
                      const Tensor along = sum(mul(t, dy), dims, true, t.dtype());
                      const Tensor by_norm = div(norm_gradient(along, t, n, dims, p), add(n, 1e-7));
                      return where(over, mul(factor, sub(dy, by_norm)), dy);
                  });
}

}  // namespace

Tensor cosine_similarity(const Tensor& a0, const Tensor& b0, std::int64_t dim, double eps) {
    return cosine_similarity_op.call(a0, b0, dim, eps, [&](const Tensor& a, const Tensor& b) {
        check_floating(cosine_similarity_op, a);
        check_floating(cosine_similarity_op, b);
        const NoAutocast inside(a.device().kind);
        const DType out = result_type(a, b), wide = wide_type(out);
        const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
        const Tensor left = direction(expand(to(a, wide), shape), dim, eps);
        const Tensor right = direction(expand(to(b, wide), shape), dim, eps);
        return to(sum(mul(left, right), {dim}, false, wide), out);
    });
}

Tensor normalize(const Tensor& x0, double p, std::int64_t dim, double eps) {
    return normalize_op.call(x0, p, dim, eps, [&](const Tensor& x) {
        check_floating(normalize_op, x);
        const DType out = autocast_result(linalg_vector_norm_op, x, {});
        const NoAutocast inside(x.device().kind);
        const Tensor wide = widened(x);
        const ReducePlan plan = reduce_plan("normalize", x, {dim});
        if (p < 0 || std::isinf(p)) check_not_empty("normalize", x, plan);
        const Tensor n = norm_of(linalg_vector_norm_op, wide, plan, p);
        return to(div(wide, clamp(n, eps, {})), out);
    });
}

Tensor renorm(const Tensor& x0, double p, std::int64_t asked_dim, double maxnorm) {
    return renorm_op.call(x0, p, asked_dim, maxnorm, [&](const Tensor& x) {
        check_floating(renorm_op, x);
        if (!(p > 0))
            throw Error(ErrorCode::value, "renorm: p must be above 0: " + std::to_string(p));
        if (!(maxnorm >= 0))
            throw Error(ErrorCode::value,
                        "renorm: maxnorm must not be negative: " + std::to_string(maxnorm));
        if (x.rank() < 2)
            throw Error(ErrorCode::shape, "renorm: x needs two dimensions or more, not shape " +
                                              to_string(x.shape()));
        const NoAutocast inside(x.device().kind);
        const int dim = wrap_dim("renorm", asked_dim, x.rank());
        std::vector<std::int64_t> others;
        for (int i = 0; i < x.rank(); ++i)
            if (i != dim) others.push_back(i);
        if (x.numel() == 0) return x;
        return to(scaled_down(widened(x), p, others, maxnorm), x.dtype());
    });
}

}  // namespace engine
