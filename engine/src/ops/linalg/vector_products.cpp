#include "ops/linalg/vector_products.h"

#include <algorithm>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

template <Tensor (*op)(const Tensor&, const Tensor&)>
TensorList run_pair(const OpArguments& args) {
    return {op(args.at(0), args.at(1))};
}
TensorList run_vecdot(const OpArguments& args) {
    return {linalg_vecdot(args.at(0), args.at(1), args.integer("dim", -1))};
}
TensorList run_cross(const OpArguments& args) {
    const std::optional<std::int64_t> dim =
        args.has("dim") ? std::optional(args.integer("dim", 0)) : std::nullopt;
    return {cross(args.at(0), args.at(1), dim)};
}
TensorList run_linalg_cross(const OpArguments& args) {
    return {linalg_cross(args.at(0), args.at(1), args.integer("dim", -1))};
}

std::int64_t first_of_size_three(const Tensor& x) {
    for (int i = 0; i < x.rank(); ++i) {
        if (x.size(i) == 3) return i;
    }
    throw Error(ErrorCode::shape, "cross: no dimension of " + to_string(x.shape()) + " has size 3");
}

/// The three parts along dim, each `by` places further up.
Tensor rotated(const Tensor& x, int dim, std::int64_t by) {
    return cat({narrow(x, dim, by, 3 - by), narrow(x, dim, 0, by)}, dim);
}

/// The product of operands of one floating type.
Tensor cross_of(const OpInfo& info, const Tensor& a, const Tensor& b, std::int64_t asked_dim) {
    one_type(info, {a, b});
    const int dim = wrap_dim(info.name, asked_dim, a.rank());
    check_shapes(info, a.rank() == b.rank() && a.rank() > 0, a, b);
    check_shapes(info, a.size(dim) == 3 && b.size(dim) == 3, a, b);
    const NoAutocast inside(a.device().kind);
    const Tensor x = widened(a), y = widened(b);
    return to(sub(mul(rotated(x, dim, 1), rotated(y, dim, 2)),
                  mul(rotated(x, dim, 2), rotated(y, dim, 1))),
              a.dtype());
}

}  // namespace

const OpInfo vdot_info{"vdot",
                       CastPolicy::promote,
                       "vdot(x, y)",
                       2,
                       "Both sides go to the wider type, so that an fp32 side loses nothing.",
                       run_pair<vdot>};
const OpInfo linalg_vecdot_info{"linalg_vecdot",
                                CastPolicy::low,
                                "linalg_vecdot(x, y; dim)",
                                2,
                                "Many dot products at once: a matrix product in disguise.",
                                run_vecdot};
const OpInfo cross_info{"cross",
                        CastPolicy::promote,
                        "cross(x, y; dim)",
                        2,
                        "Differences of products lose digits: both sides go to the wider type.",
                        run_cross};
const OpInfo linalg_cross_info{"linalg_cross",
                               CastPolicy::none,
                               "linalg_cross(x, y; dim)",
                               2,
                               "Not on the autocast list, though cross is: keeps its inputs' type.",
                               run_linalg_cross};
const OpInfo outer_info{"outer",
                        CastPolicy::none,
                        "outer(x, y)",
                        2,
                        "Not on the list: one product an element and no sum; mixed inputs promote.",
                        run_pair<outer>};
const OpInfo kron_info{"kron",
                       CastPolicy::none,
                       "kron(x, y)",
                       2,
                       "Not on the list: one product an element and no sum; mixed inputs promote.",
                       run_pair<kron>};

Tensor vdot(const Tensor& a0, const Tensor& b0) {
    if (intercepted(vdot_info))
        return dispatched(
            vdot_info, [](const auto&... args) { return vdot(args...); }, a0, b0);
    check_rank(vdot_info, a0, 1);
    check_rank(vdot_info, b0, 1);
    const auto [a, b] = autocast(vdot_info, a0, b0);
    one_type(vdot_info, {a, b});
    check_shapes(vdot_info, a.size(0) == b.size(0), a, b);
    const NoAutocast inside(a.device().kind);
    return dot(a, b);
}

Tensor linalg_vecdot(const Tensor& a0, const Tensor& b0, std::int64_t dim) {
    if (intercepted(linalg_vecdot_info))
        return dispatched(
            linalg_vecdot_info, [](const auto&... args) { return linalg_vecdot(args...); }, a0, b0,
            dim);
    const auto [a, b] = autocast(linalg_vecdot_info, a0, b0);
    one_type(linalg_vecdot_info, {a, b});
    check_shapes(linalg_vecdot_info, a.rank() > 0 && b.rank() > 0, a, b);
    const NoAutocast inside(a.device().kind);
    const Tensor products = mul(widened(a), widened(b));
    return to(sum(products, {wrap_dim(linalg_vecdot_info.name, dim, products.rank())}), a.dtype());
}

Tensor cross(const Tensor& a0, const Tensor& b0, std::optional<std::int64_t> dim) {
    if (intercepted(cross_info))
        return dispatched(
            cross_info, [](const auto&... args) { return cross(args...); }, a0, b0, dim);
    const auto [a, b] = autocast(cross_info, a0, b0);
    return cross_of(cross_info, a, b, dim ? *dim : first_of_size_three(a));
}

Tensor linalg_cross(const Tensor& a, const Tensor& b, std::int64_t dim) {
    if (intercepted(linalg_cross_info))
        return dispatched(
            linalg_cross_info, [](const auto&... args) { return linalg_cross(args...); }, a, b,
            dim);
    return cross_of(linalg_cross_info, a, b, dim);
}

Tensor outer(const Tensor& a, const Tensor& b) {
    if (intercepted(outer_info))
        return dispatched(
            outer_info, [](const auto&... args) { return outer(args...); }, a, b);
    check_rank(outer_info, a, 1);
    check_rank(outer_info, b, 1);
    return to(mul(reshape(widened(a), {a.size(0), 1}), widened(b)), result_type(a, b));
}

Tensor kron(const Tensor& a, const Tensor& b) {
    if (intercepted(kron_info))
        return dispatched(
            kron_info, [](const auto&... args) { return kron(args...); }, a, b);
    const int rank = std::max(a.rank(), b.rank());
    if (2 * rank > Dims::max_rank) {
        throw Error(ErrorCode::shape, "kron: takes ranks up to 4, not " + std::to_string(rank));
    }
    Shape left, right, out;
    for (int i = 0; i < rank; ++i) {
        const int from_a = i - rank + a.rank(), from_b = i - rank + b.rank();
        const std::int64_t m = from_a < 0 ? 1 : a.size(from_a), n = from_b < 0 ? 1 : b.size(from_b);
        left.push_back(m);
        left.push_back(1);
        right.push_back(1);
        right.push_back(n);
        out.push_back(m * n);
    }
    const Tensor y = mul(reshape(widened(a), left), reshape(widened(b), right));
    return to(reshape(y, out), result_type(a, b));
}

}  // namespace engine
