#include "ops/reduce/order.h"

#include "amp/dispatch.h"

#include <limits>

#include "engine/base/error.h"
#include "kernels/sort.h"
#include "ops/index/gather.h"
#include "ops/pointwise/compare.h"
#include "ops/reduce/extremum.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using kernels::ReduceOp;

/// x along a dimension; a 0-d tensor as one of one element.
Tensor with_dimension(const Tensor& x) { return x.rank() == 0 ? reshape(x, {1}) : x; }

/// Places along dim in order, i64, outside the tape.
Tensor order_of(const Tensor& x, int dim, bool descending) {
    const ReduceWalk walk = reduce_walk(x.is_contiguous() ? x : in_layout(x, Layout::contiguous),
                                        reduce_plan("sort", x, {dim}));
    const Tensor y = Tensor::empty(x.shape(), DType::i64, x.device());
    on(x.device(), kernels::cpu::sort_order, kernels::cuda::sort_order)(
        y.array(), walk.x.array(), walk.outer, walk.n, walk.inner, descending, current_stream());
    return y;
}

/// The values at these places, and both in the shape of the result.
Ordered chosen(const Tensor& x, int dim, const Tensor& places, const Shape& shape) {
    return {reshape(gather(x, dim, places), shape), reshape(places, shape)};
}

/// One place of each row, from its kept shape.
Ordered one_chosen(const Op& info, const Tensor& x0, std::int64_t asked_dim, bool keepdim,
                   Tensor (*place)(const Tensor& x, int dim)) {
    if (x0.dtype() == DType::boolean) check_floating(info, x0);
    const int dim = wrap_dim(info.name, asked_dim, x0.rank());
    const Tensor x = with_dimension(x0);
    const ReducePlan plan = reduce_plan(info.name, x0, {asked_dim});
    check_not_empty(info.name, x0, plan);
    return chosen(x, dim, place(x, dim), plan.shape(keepdim));
}

Tensor middle_place(const Tensor& x, int dim) {
    const std::int64_t n = x.size(dim);
    const GradMode off(false);
    const Tensor order = order_of(x, dim, false);
    const Tensor middle = contiguous(narrow(order, dim, (n - 1) / 2, 1));
    // A NaN wins: the first of them is where the largest is.
    const Tensor last = argmax(x, dim, true);
    const Tensor largest = gather(x, dim, last);
    return where(not_equal(largest, largest), last, middle);
}

/// A chosen value of all elements; those equal to it share the gradient, and NaN is one of them.
Tensor of_all(const Op& info, const Tensor& x, const Tensor& y, const ReducePlan& plan) {
    return record(info, {x}, y, {save(x), save_output(y)},
                  [dims = plan.dims](const Tensor& dy, const Saved& saved) {
                      return shared_among_equals(dy, saved[0], saved[1], dims, true);
                  });
}

Tensor extremum_of_all(const Op& info, const Tensor& x, ReduceOp op) {
    const ReducePlan plan = reduce_plan(info.name, x, {});
    check_not_empty(info.name, x, plan);
    if (!is_floating(x.dtype()))
        return record_flat(info, {&x, 1}, extremum_of_integers(op, x, plan, false));
    return of_all(info, x, reduced_by(op, x, plan, false, x.dtype()), plan);
}

}  // namespace

Ordered sort(const Tensor& asked_x, std::int64_t asked_dim, bool descending) {
    return sort_op.call(asked_x, asked_dim, descending, [&](const Tensor& x0) {
        const int dim = wrap_dim("sort", asked_dim, x0.rank());
        const Tensor x = with_dimension(x0);
        return chosen(x, dim, order_of(x, dim, descending), x0.shape());
    });
}

Tensor argsort(const Tensor& x0, std::int64_t asked_dim, bool descending) {
    return argsort_op.call(x0, asked_dim, descending, [&](const Tensor& x) {
        const int dim = wrap_dim("argsort", asked_dim, x.rank());
        const GradMode off(false);
        const Tensor y = reshape(order_of(with_dimension(x), dim, descending), x.shape());
        return record_flat(argsort_op, {&x, 1}, y);
    });
}

Ordered topk(const Tensor& asked_x, std::int64_t k, std::int64_t asked_dim, bool largest) {
    return topk_op.call(asked_x, k, asked_dim, largest, [&](const Tensor& x0) {
        const int dim = wrap_dim("topk", asked_dim, x0.rank());
        const Tensor x = with_dimension(x0);
        if (k < 0 || k > x.size(dim)) {
            throw Error(ErrorCode::value, "topk: k = " + std::to_string(k) + " of dimension " +
                                              std::to_string(dim) + " of " + to_string(x0.shape()));
        }
        Shape shape = x0.shape();
        if (x0.rank() > 0) shape[dim] = k;
        Tensor places;
        {
            const GradMode off(false);
            places = contiguous(narrow(order_of(x, dim, largest), dim, 0, k));
        }
        return chosen(x, dim, places, shape);
    });
}

Ordered median(const Tensor& x0, std::int64_t dim, bool keepdim) {
    return median_op.call(x0, dim, keepdim, [&](const Tensor& x) {
        return one_chosen(median_op, x, dim, keepdim, middle_place);
    });
}

Tensor median(const Tensor& x0) {
    return median_op.call(x0, [&](const Tensor& x) {
        const ReducePlan plan = reduce_plan("median", x, {});
        if (!is_floating(x.dtype())) {
            check_not_empty("median", x, plan);
            return median(reshape(x, {x.numel()}), 0).values;
        }
        Tensor y;
        {
            const GradMode off(false);
            y = x.numel() == 0 ? Tensor::full({}, std::numeric_limits<double>::quiet_NaN(),
                                              x.dtype(), x.device())
                               : median(reshape(x, {x.numel()}), 0).values;
        }
        return of_all(median_op, x, y, plan);
    });
}

Ordered max(const Tensor& x0, std::int64_t dim, bool keepdim) {
    return max_op.call(x0, dim, keepdim, [&](const Tensor& x) {
        return one_chosen(max_op, x, dim, keepdim,
                          [](const Tensor& v, int d) { return argmax(v, d, true); });
    });
}
Ordered min(const Tensor& x0, std::int64_t dim, bool keepdim) {
    return min_op.call(x0, dim, keepdim, [&](const Tensor& x) {
        return one_chosen(min_op, x, dim, keepdim,
                          [](const Tensor& v, int d) { return argmin(v, d, true); });
    });
}

Tensor max(const Tensor& x0) {
    return max_op.call(x0,
                       [&](const Tensor& x) { return extremum_of_all(max_op, x, ReduceOp::max); });
}
Tensor min(const Tensor& x0) {
    return min_op.call(x0,
                       [&](const Tensor& x) { return extremum_of_all(min_op, x, ReduceOp::min); });
}

}  // namespace engine
