#include "ops/reduce/reduce.h"

#include "amp/autocast.h"
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

template <Tensor (*op)(const Tensor&, const Ints&, bool, std::optional<DType>)>
TensorList run_reduction(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), args.flag("keepdim", false), args.dtype())};
}
TensorList run_argmax(const OpArguments& args) {
    const Tensor& x = args.at(0);
    const bool keepdim = args.flag("keepdim", false);
    if (args.has("dim")) return {argmax(x, args.integer("dim", 0), keepdim)};
    // Without a dimension it is the place in row-major order.
    Shape ones;
    for (int i = 0; keepdim && i < x.rank(); ++i) ones.push_back(1);
    return {reshape(argmax(reshape(x, {x.numel()}), 0, false), ones)};
}

}  // namespace

const OpInfo mean_info{"mean",
                       CastPolicy::none,
                       "mean(x; dim?, keepdim, dtype?)",
                       2,
                       "Not on the list: adds in fp32 and rounds the result to its input's type.",
                       run_reduction<mean>};
const OpInfo argmax_info{"argmax",
                         CastPolicy::none,
                         "argmax(x; dim?, keepdim)",
                         0,
                         "The result is an index, which has no precision to lose.",
                         run_argmax};

Tensor mean(const Tensor& x, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    if (intercepted(mean_info))
        return dispatched(
            mean_info, [](const auto&... a) { return mean(a...); }, x, dims, keepdim, dtype);
    const DType out = dtype.value_or(x.dtype());
    check_result_type("mean", out);
    const ReducePlan plan = reduce_plan("mean", x, dims);
    return record(
        mean_info, {x}, reduced_by(ReduceOp::mean, x, plan, keepdim, out), {},
        [from = x.shape(), kept = plan.kept, n = plan.count](const Tensor& dy, const Saved&) {
            return expand(mul(reshape(dy, kept), 1.0 / static_cast<double>(n)), from);
        });
}

Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim) {
    if (!is_floating(x.dtype())) {
        const GradMode off(false);
        const Tensor whole = to(x, DType::i64);
        return argmax(to(equal(whole, amax(whole, {dim}, true)), DType::f32), dim, keepdim);
    }
    const ReducePlan plan = reduce_plan("argmax", x, {dim});
    const ReduceWalk walk = reduce_walk(x, plan);
    if (walk.n == 0)
        throw Error(ErrorCode::shape, "argmax: dimension " + std::to_string(dim) + " of " +
                                          to_string(x.shape()) + " is empty");
    const Tensor y = Tensor::empty(keepdim ? plan.kept : plan.squeezed, DType::i64, x.device());
    on(x.device(), kernels::cpu::arg_max, kernels::cuda::arg_max)(
        y.array(), walk.x.array(), walk.outer, walk.n, walk.inner, current_stream());
    return record_flat(argmax_info, {&x, 1}, y);
}

namespace {

template <Tensor (*op)(const Tensor&, const Ints&, bool)>
TensorList run_counting(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), args.flag("keepdim", false))};
}
TensorList run_count(const OpArguments& args) {
    return {count_nonzero(args.at(0), args.integers("dim", {}))};
}

/// Results of counting, in f64, where every count that fits in memory is exact.
Tensor counted(const OpInfo& info, const Tensor& x, const Ints& dims, bool keepdim) {
    const GradMode off(false);
    const Tensor zero = Tensor::scalar(0, x.dtype(), x.device());
    const Tensor ones = to(not_equal(x, zero), DType::f64);
    return reduced_by(ReduceOp::sum, ones, reduce_plan(info.name, x, dims), keepdim, DType::f64);
}

constexpr const char* counts_values =
    "A count or an answer is a whole number: there is no precision to lose.";

}  // namespace

const OpInfo all_info{"all", CastPolicy::none, "all(x; dim?, keepdim)", 0, counts_values, run_counting<all>};
const OpInfo any_info{"any", CastPolicy::none, "any(x; dim?, keepdim)", 0, counts_values, run_counting<any>};
const OpInfo count_nonzero_info{"count_nonzero", CastPolicy::none, "count_nonzero(x; dim?)", 0,
                                counts_values,   run_count};

Tensor all(const Tensor& x, const Ints& dims, bool keepdim) {
    const auto count = static_cast<double>(reduce_plan("all", x, dims).count);
    const Tensor found = counted(all_info, x, dims, keepdim);
    return record_flat(all_info, {&x, 1},
                       equal(found, Tensor::scalar(count, DType::f64, x.device())));
}
Tensor any(const Tensor& x, const Ints& dims, bool keepdim) {
    const Tensor found = counted(any_info, x, dims, keepdim);
    return record_flat(any_info, {&x, 1},
                       greater(found, Tensor::scalar(0, DType::f64, x.device())));
}
Tensor count_nonzero(const Tensor& x, const Ints& dims) {
    return record_flat(count_nonzero_info, {&x, 1},
                       to(counted(count_nonzero_info, x, dims, false), DType::i64));
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
    return record(nansum_info, {x}, y, {save(x)}, [](const Tensor& dy, const Saved& saved) {
        return mul(dy, numbers_in(saved[0].detach()));
    });
}

Tensor nan_reduced(const OpInfo& info, const Tensor& x0, const Ints& dims, bool keepdim,
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

constexpr const char* sums_many =
    "Not on the list: adds in fp32 and rounds the result to its input's type.";

}  // namespace

const OpInfo nansum_info{"nansum", CastPolicy::none, "nansum(x; dim?, keepdim, dtype?)",
                         2,        sums_many,        run_reduction<nansum>};
const OpInfo nanmean_info{"nanmean", CastPolicy::none, "nanmean(x; dim?, keepdim, dtype?)",
                          2,         sums_many,        run_reduction<nanmean>};

Tensor nansum(const Tensor& x, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    if (intercepted(nansum_info))
        return dispatched(
            nansum_info, [](const auto&... a) { return nansum(a...); }, x, dims, keepdim, dtype);
    return nan_reduced(nansum_info, x, dims, keepdim, dtype, false);
}
Tensor nanmean(const Tensor& x, const Ints& dims, bool keepdim, std::optional<DType> dtype) {
    if (intercepted(nanmean_info))
        return dispatched(
            nanmean_info, [](const auto&... a) { return nanmean(a...); }, x, dims, keepdim, dtype);
    return nan_reduced(nanmean_info, x, dims, keepdim, dtype, true);
}

}  // namespace engine
