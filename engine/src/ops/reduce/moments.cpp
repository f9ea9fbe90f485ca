#include "ops/reduce/moments.h"

#include "amp/dispatch.h"

#include <algorithm>

#include "engine/base/error.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/reduce_plan.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/result_type.h"

namespace engine {
namespace {

using Ints = std::vector<std::int64_t>;
using kernels::ReduceOp;

double read_correction(const OpInfo& info, const OpArguments& args) {
    if (args.has("unbiased") && args.has("correction")) {
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": unbiased and correction say the same thing twice");
    }
    return args.has("unbiased") ? (args.flag("unbiased", true) ? 1 : 0)
                                : args.number("correction", 1);
}
template <const OpInfo& info, Tensor (*op)(const Tensor&, const Ints&, double, bool)>
TensorList run(const OpArguments& args) {
    return {op(args.at(0), args.integers("dim", {}), read_correction(info, args),
               args.flag("keepdim", false))};
}
template <const OpInfo& info, TensorList (*op)(const Tensor&, const Ints&, double, bool)>
TensorList run(const OpArguments& args) {
    return op(args.at(0), args.integers("dim", {}), read_correction(info, args),
              args.flag("keepdim", false));
}

/// Variance of x in f32 or f64; the reduced dimensions are kept. Sums the squared deviations from
/// the mean, since a difference of two large sums would cancel.
Tensor variance(const Tensor& x, const ReducePlan& plan, double correction) {
    const double degrees = static_cast<double>(plan.count) - correction;
    Tensor y;
    {
        const GradMode off(false);
        const Tensor centre = reduced_by(ReduceOp::mean, x, plan, true, x.dtype());
        const Tensor squares =
            reduced_by(ReduceOp::sum_squares, sub(x, centre), plan, true, x.dtype());
        y = div(squares, scalar_like(squares, std::max(0.0, degrees)));
    }
    return record(var_info, {x}, y, {save(x)},
                  [dims = plan.dims, degrees](const Tensor& dy, const Saved& saved) {
                      const Tensor x_again = saved[0];
                      const Tensor deviation = sub(x_again, mean(x_again, dims, true));
                      return mul(mul(deviation, 2 / degrees), dy);
                  });
}

/// sqrt whose gradient at 0 is 0.
Tensor deviation_of(const Tensor& variance) {
    Tensor y;
    {
        const GradMode off(false);
        y = sqrt(variance);
    }
    return record(std_info, {variance}, y, {save_output(y)},
                  [](const Tensor& dy, const Saved& saved) {
                      const Tensor root = saved[0];
                      const Tensor zero = Tensor::scalar(0, root.dtype(), root.device());
                      const Tensor one = Tensor::scalar(1, root.dtype(), root.device());
                      const Tensor flat = equal(root, zero);
                      const Tensor slope = div(mul(dy, 0.5), where(flat, one, root));
                      return where(flat, zero, slope);
                  });
}

enum class Spread { variance, deviation };

/// The spread, and the mean if it is asked for.
TensorList moments(const OpInfo& info, const Tensor& x, const Ints& dims, double correction,
                   bool keepdim, Spread spread, bool with_mean) {
    check_floating(info, x);
    const Tensor wide = widened(x);
    const ReducePlan plan = reduce_plan(info.name, x, dims);
    const Tensor squared = variance(wide, plan, correction);
    const Tensor kept = spread == Spread::variance ? squared : deviation_of(squared);
    const auto finished = [&](const Tensor& y) {
        return to(reshape(y, plan.shape(keepdim)), x.dtype());
    };
    TensorList results{finished(kept)};
    if (with_mean) results.push_back(finished(mean(wide, dims, true)));
    return results;
}

constexpr const char* sums_squares =
    "Not on the list: squares and sums are fp32 inside, and the result has its input's type.";

}  // namespace

const OpInfo var_info{"var", CastPolicy::none, "var(x; dim?, unbiased?, correction?, keepdim)",
                      2,     sums_squares,     run<var_info, var>};
const OpInfo std_info{"std", CastPolicy::none, "std(x; dim?, unbiased?, correction?, keepdim)",
                      2,     sums_squares,     run<std_info, standard_deviation>};
const OpInfo var_mean_info{
    "var_mean", CastPolicy::none, "var_mean(x; dim?, unbiased?, correction?, keepdim)",
    2,          sums_squares,     run<var_mean_info, var_mean>};
const OpInfo std_mean_info{
    "std_mean", CastPolicy::none, "std_mean(x; dim?, unbiased?, correction?, keepdim)",
    2,          sums_squares,     run<std_mean_info, std_mean>};

Tensor var(const Tensor& x, const Ints& dims, double correction, bool keepdim) {
    if (intercepted(var_info))
        return dispatched(
            var_info, [](const auto&... a) { return var(a...); }, x, dims, correction, keepdim);
    return moments(var_info, x, dims, correction, keepdim, Spread::variance, false)[0];
}
Tensor standard_deviation(const Tensor& x, const Ints& dims, double correction, bool keepdim) {
    if (intercepted(std_info))
        return dispatched(
            std_info, [](const auto&... a) { return standard_deviation(a...); }, x, dims,
            correction, keepdim);
    return moments(std_info, x, dims, correction, keepdim, Spread::deviation, false)[0];
}
TensorList var_mean(const Tensor& x, const Ints& dims, double correction, bool keepdim) {
    if (intercepted(var_mean_info))
        return dispatched(
            var_mean_info, [](const auto&... a) { return var_mean(a...); }, x, dims, correction,
            keepdim);
    return moments(var_mean_info, x, dims, correction, keepdim, Spread::variance, true);
}
TensorList std_mean(const Tensor& x, const Ints& dims, double correction, bool keepdim) {
    if (intercepted(std_mean_info))
        return dispatched(
            std_mean_info, [](const auto&... a) { return std_mean(a...); }, x, dims, correction,
            keepdim);
    return moments(std_mean_info, x, dims, correction, keepdim, Spread::deviation, true);
}

}  // namespace engine
