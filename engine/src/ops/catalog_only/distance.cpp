#include "ops/catalog_only/distance.h"

#include <algorithm>
#include <cmath>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

/// The norm of the last dimension, which goes away. Without elements every distance is 0.
Tensor last_norm(const Op& info, const Tensor& difference, double p) {
    const ReducePlan plan = reduce_plan(info.name, difference, {-1});
    return reshape(norm_of(info, difference, plan, plan.count == 0 ? 2 : p, Ties::each),
                   plan.squeezed);
}

void check_order(const Op& info, double p) {
    if (!(p >= 0))
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": p must not be negative: " + std::to_string(p));
}

/// x with a dimension of size 1 before dimension `dim`.
Tensor unsqueezed(const Tensor& x, int dim) {
    Shape shape;
    for (int i = 0; i < x.rank(); ++i) {
        if (i == dim) shape.push_back(1);
        shape.push_back(x.size(i));
    }
    return reshape(x, shape);
}

/// The first or second row of each pair of rows of x, as i64 on x's device.
Tensor pair_members(const Tensor& x, bool first) {
    const std::int64_t n = x.size(0);
    const Tensor host =
        Tensor::empty({n == 0 ? 0 : checked_product(n, n - 1) / 2}, DType::i64, Device{});
    auto* row = host.data_as<std::int64_t>();
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = i + 1; j < n; ++j) *row++ = first ? i : j;
    return constant_on(x.device(), host);
}

}  // namespace

TensorList cdist_by_name(const Op&, const OpArguments& args) {
    const std::string mode = args.text("compute_mode", "use_mm_for_euclid_dist_if_necessary");
    if (mode != "use_mm_for_euclid_dist_if_necessary" && mode != "use_mm_for_euclid_dist" &&
        mode != "donot_use_mm_for_euclid_dist") {
        throw Error(ErrorCode::value,
                    "cdist: compute_mode is use_mm_for_euclid_dist_if_necessary, "
                    "use_mm_for_euclid_dist or donot_use_mm_for_euclid_dist, not " +
                        mode);
    }
    return {cdist(args.at(0), args.at(1), args.number("p", 2))};
}

Tensor dist(const Tensor& x0, const Tensor& y0, double p) {
    return dist_op.call(x0, y0, p, [&](const Tensor& x, const Tensor& y) {
        check_floating(dist_op, x);
        check_floating(dist_op, y);
        const NoAutocast inside(x.device().kind);
        const DType out = result_type(x, y), wide = wide_type(out);
        const Tensor difference = sub(to(x, wide), to(y, wide));
        const ReducePlan plan = reduce_plan("dist", difference, {});
        if (p < 0 || std::isinf(p)) check_not_empty("dist", difference, plan);
        return to(reshape(norm_of(dist_op, difference, plan, p), {}), out);
    });
}

Tensor cdist(const Tensor& a0, const Tensor& b0, double p) {
    return cdist_op.call(a0, b0, p, [&](const Tensor& a, const Tensor& b) {
        const DType out = one_type(cdist_op, {a, b});
        check_order(cdist_op, p);
        const int m = a.rank() - 1;
        check_shapes(cdist_op, m >= 1 && b.rank() >= 2 && a.size(m) == b.size(b.rank() - 1), a, b);
        const NoAutocast inside(a.device().kind);
        const Tensor rows = unsqueezed(widened(a), a.rank() - 1);
        const Tensor columns = unsqueezed(widened(b), b.rank() - 2);
        return to(last_norm(cdist_op, sub(rows, columns), p), out);
    });
}

Tensor pdist(const Tensor& x0, double p) {
    return pdist_op.call(x0, p, [&](const Tensor& x) {
        check_floating(pdist_op, x);
        check_rank(pdist_op, x, 2);
        check_order(pdist_op, p);
        const NoAutocast inside(x.device().kind);
        const Tensor wide = widened(x), first = pair_members(x, true),
                     second = pair_members(x, false);
        const Tensor difference = sub(index_select(wide, 0, first), index_select(wide, 0, second));
        return to(last_norm(pdist_op, difference, p), x.dtype());
    });
}

}  // namespace engine
