#include "ops/reduce/nan_reduce.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/view.h"
#include "tensor/check.h"
#include "tensor/wide.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

template <Tensor (*op)(const Tensor&, const Ints&, bool, std::optional<DType>)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), args.flag("keepdim", false), args.dtype())};
}

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
                         2,        sums_many,        run<nansum>};
const OpInfo nanmean_info{"nanmean", CastPolicy::none, "nanmean(x; dim?, keepdim, dtype?)",
                          2,         sums_many,        run<nanmean>};

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
