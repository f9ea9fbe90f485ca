#include "ops/catalog_only/vector_products.h"

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
Tensor cross_of(const Op& info, const Tensor& a, const Tensor& b, std::int64_t asked_dim) {
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

Tensor vdot(const Tensor& a0, const Tensor& b0) {
    return vdot_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        check_rank(vdot_op, a, 1);
        check_rank(vdot_op, b, 1);
        one_type(vdot_op, {a, b});
        check_shapes(vdot_op, a.size(0) == b.size(0), a, b);
        const NoAutocast inside(a.device().kind);
        return dot(a, b);
    });
}

Tensor linalg_vecdot(const Tensor& a0, const Tensor& b0, std::int64_t dim) {
    return linalg_vecdot_op.call(a0, b0, dim, [&](const Tensor& a, const Tensor& b) {
        one_type(linalg_vecdot_op, {a, b});
        check_shapes(linalg_vecdot_op, a.rank() > 0 && b.rank() > 0, a, b);
        const NoAutocast inside(a.device().kind);
        const Tensor products = mul(widened(a), widened(b));
        return to(sum(products, {wrap_dim(linalg_vecdot_op.name, dim, products.rank())}),
                  a.dtype());
    });
}

Tensor cross(const Tensor& a0, const Tensor& b0, std::optional<std::int64_t> dim) {
    return cross_op.call(a0, b0, dim, [&](const Tensor& a, const Tensor& b) {
        return cross_of(cross_op, a, b, dim ? *dim : first_of_size_three(a));
    });
}

Tensor linalg_cross(const Tensor& a0, const Tensor& b0, std::int64_t dim) {
    return linalg_cross_op.call(a0, b0, dim, [&](const Tensor& a, const Tensor& b) {
        return cross_of(linalg_cross_op, a, b, dim);
    });
}

Tensor outer(const Tensor& a0, const Tensor& b0) {
    return outer_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        check_rank(outer_op, a, 1);
        check_rank(outer_op, b, 1);
        return to(mul(reshape(widened(a), {a.size(0), 1}), widened(b)), result_type(a, b));
    });
}

Tensor kron(const Tensor& a0, const Tensor& b0) {
    return kron_op.call(a0, b0, [&](const Tensor& a, const Tensor& b) {
        const int rank = std::max(a.rank(), b.rank());
        if (2 * rank > Dims::max_rank) {
            throw Error(ErrorCode::shape, "kron: takes ranks up to 4, not " + std::to_string(rank));
        }
        Shape left, right, out;
        for (int i = 0; i < rank; ++i) {
            const int from_a = i - rank + a.rank(), from_b = i - rank + b.rank();
            const std::int64_t m = from_a < 0 ? 1 : a.size(from_a),
                               n = from_b < 0 ? 1 : b.size(from_b);
            left.push_back(m);
            left.push_back(1);
            right.push_back(1);
            right.push_back(n);
            out.push_back(m * n);
        }
        const Tensor y = mul(reshape(widened(a), left), reshape(widened(b), right));
        return to(reshape(y, out), result_type(a, b));
    });
}

}  // namespace engine
