#include "ops/reduce/reduce.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/reduce/extremum.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

}  // namespace

Tensor mean(const Tensor& x0, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    return mean_op.call(x0, dims, keepdim, dtype, [&](const Tensor& x) {
        const DType out = dtype.value_or(x.dtype());
        check_result_type("mean", out);
        const ReducePlan plan = reduce_plan("mean", x, dims);
        return record(
            mean_op, {x}, reduced_by(ReduceOp::mean, x, plan, keepdim, out), {},
            [from = x.shape(), kept = plan.kept, n = plan.count](const Tensor& dy, const Saved&) {
                return expand(mul(reshape(dy, kept), 1.0 / static_cast<double>(n)), from);
            });
    });
}

Tensor of_all(Tensor (*place)(const Tensor&, std::optional<std::int64_t>, bool), const Tensor& x,
              bool keepdim) {
    Shape ones;
    for (int i = 0; keepdim && i < x.rank(); ++i) ones.push_back(1);
    return reshape(place(reshape(x, {x.numel()}), 0, false), ones);
}

Tensor argmax(const Tensor& x0, std::optional<std::int64_t> dim, bool keepdim) {
    return argmax_op.call(x0, dim, keepdim, [&](const Tensor& x) {
        if (!dim) return of_all(argmax, x, keepdim);
        if (!is_floating(x.dtype())) {
            const GradMode off(false);
            const Tensor whole = to(x, DType::i64);
            return argmax(to(equal(whole, amax(whole, {*dim}, true)), DType::f32), dim, keepdim);
        }
        const ReducePlan plan = reduce_plan("argmax", x, {*dim});
        const ReduceWalk walk = reduce_walk(x, plan);
        if (walk.n == 0)
            throw Error(ErrorCode::shape, "argmax: dimension " + std::to_string(*dim) + " of " +
                                              to_string(x.shape()) + " is empty");
        const Tensor y = Tensor::empty(keepdim ? plan.kept : plan.squeezed, DType::i64, x.device());
        on(x.device(), kernels::cpu::arg_max, kernels::cuda::arg_max)(
            y.array(), walk.x.array(), walk.outer, walk.n, walk.inner, current_stream());
        return record_flat(argmax_op, {&x, 1}, y);
    });
}

namespace {

/// Results of counting, in f64, where every count that fits in memory is exact.
Tensor counted(const Op& info, const Tensor& x, const Ints& dims, bool keepdim) {
    const GradMode off(false);
    const Tensor zero = Tensor::scalar(0, x.dtype(), x.device());
    const Tensor ones = to(not_equal(x, zero), DType::f64);
    return reduced_by(ReduceOp::sum, ones, reduce_plan(info.name, x, dims), keepdim, DType::f64);
}

}  // namespace

Tensor all(const Tensor& x0, const Ints& dims, bool keepdim) {
    return all_op.call(x0, dims, keepdim, [&](const Tensor& x) {
        const auto count = static_cast<double>(reduce_plan("all", x, dims).count);
        const Tensor found = counted(all_op, x, dims, keepdim);
        return record_flat(all_op, {&x, 1},
                           equal(found, Tensor::scalar(count, DType::f64, x.device())));
    });
}
Tensor any(const Tensor& x0, const Ints& dims, bool keepdim) {
    return any_op.call(x0, dims, keepdim, [&](const Tensor& x) {
        const Tensor found = counted(any_op, x, dims, keepdim);
        return record_flat(any_op, {&x, 1},
                           greater(found, Tensor::scalar(0, DType::f64, x.device())));
    });
}
Tensor count_nonzero(const Tensor& x0, const Ints& dims) {
    return count_nonzero_op.call(x0, dims, [&](const Tensor& x) {
        return record_flat(count_nonzero_op, {&x, 1},
                           to(counted(count_nonzero_op, x, dims, false), DType::i64));
    });
}

namespace {

/// 1 where x is a number, 0 where it is NaN.
Tensor numbers_in(const Tensor& x) { return to(equal(x, x), x.dtype()); }

/// Sum of the numbers of x in f32 or f64, the plan's dimensions kept.
Tensor sum_of_numbers(const Tensor& x, const ReducePlan& plan) {
    Tensor y;
    {
        const GradMode off(false);
        const Tensor zero = Tensor::scalar(0, x.dtype(), x.device());
        y = reduced_by(ReduceOp::sum, where(equal(x, x), x, zero), plan, true, x.dtype());
    }
    return record(nansum_op, {x}, y, {save(x)}, [](const Tensor& dy, const Saved& saved) {
        return mul(dy, numbers_in(saved[0].detach()));
    });
}

Tensor nan_reduced(const Op& info, const Tensor& x0, const Ints& dims, bool keepdim,
                   std::optional<DType> dtype, bool averaged) {
    check_floating(info, x0);
    const Tensor x = to(x0, dtype.value_or(x0.dtype()));
    check_floating(info, x);
    const Tensor wide = widened(x);
    const ReducePlan plan = reduce_plan(info.name, x, dims);
    Tensor y = sum_of_numbers(wide, plan);
    if (averaged)
        y = div(y, reduced_by(ReduceOp::sum, numbers_in(wide.detach()), plan, true, wide.dtype()));
    return to(reshape(y, plan.shape(keepdim)), x.dtype());
}

}  // namespace

Tensor nansum(const Tensor& x0, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    return nansum_op.call(x0, dims, keepdim, dtype, [&](const Tensor& x) {
        return nan_reduced(nansum_op, x, dims, keepdim, dtype, false);
    });
}
Tensor nanmean(const Tensor& x0, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    return nanmean_op.call(x0, dims, keepdim, dtype, [&](const Tensor& x) {
        return nan_reduced(nanmean_op, x, dims, keepdim, dtype, true);
    });
}

}  // namespace engine
