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

}  // namespace engine
