#include "ops/catalog_only/moments.h"

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
    return record(var_op, {x}, y, {save(x)},
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
    return record(std_op, {variance}, y, {save_output(y)},
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
TensorList moments(const Op& info, const Tensor& x, const Ints& dims, Correction correction,
                   bool keepdim, Spread spread, bool with_mean) {
    check_floating(info, x);
    const Tensor wide = widened(x);
    const ReducePlan plan = reduce_plan(info.name, x, dims);
    const Tensor squared = variance(wide, plan, correction.value(info));
    const Tensor kept = spread == Spread::variance ? squared : deviation_of(squared);
    const auto finished = [&](const Tensor& y) {
        return to(reshape(y, plan.shape(keepdim)), x.dtype());
    };
    TensorList results{finished(kept)};
    if (with_mean) results.push_back(finished(mean(wide, dims, true)));
    return results;
}

}  // namespace

double Correction::value(const Op& op) const {
    if (unbiased && correction) {
        throw Error(ErrorCode::value,
                    std::string(op.name) + ": unbiased and correction say the same thing twice");
    }
    return unbiased ? (*unbiased ? 1 : 0) : correction.value_or(1);
}

Tensor var(const Tensor& x0, const Ints& dims, Correction correction, bool keepdim) {
    return var_op.call(x0, dims, correction, keepdim, [&](const Tensor& x) {
        return moments(var_op, x, dims, correction, keepdim, Spread::variance, false)[0];
    });
}
Tensor standard_deviation(const Tensor& x0, const Ints& dims, Correction correction, bool keepdim) {
    return std_op.call(x0, dims, correction, keepdim, [&](const Tensor& x) {
        return moments(std_op, x, dims, correction, keepdim, Spread::deviation, false)[0];
    });
}
TensorList var_mean(const Tensor& x0, const Ints& dims, Correction correction, bool keepdim) {
    return var_mean_op.call(x0, dims, correction, keepdim, [&](const Tensor& x) {
        return moments(var_mean_op, x, dims, correction, keepdim, Spread::variance, true);
    });
}
TensorList std_mean(const Tensor& x0, const Ints& dims, Correction correction, bool keepdim) {
    return std_mean_op.call(x0, dims, correction, keepdim, [&](const Tensor& x) {
        return moments(std_mean_op, x, dims, correction, keepdim, Spread::deviation, true);
    });
}

}  // namespace engine
