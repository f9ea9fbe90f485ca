#include "ops/pool/lp_pool.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/window.h"
#include "tensor/cast.h"
#include "tensor/check.h"

namespace engine {
namespace {

Tensor mean_pool(int dims, const Tensor& x, const PoolOptions& options) {
    if (dims == 2) return avg_pool2d(x, options);
    return dims == 1 ? avg_pool1d(x, options) : avg_pool3d(x, options);
}

/// x, with the gradient 0 where it is 0: there the root's would be infinite.
Tensor cut_at_zero(const Tensor& x) {
    const Tensor zero = Tensor::scalar(0, x.dtype(), x.device()),
                 one = Tensor::scalar(1, x.dtype(), x.device());
    const Tensor sign = where(greater(x, zero), one, where(less(x, zero), neg(one), zero));
    return mul(sign, relu(abs(x)));
}

Tensor lp_pool(const Op& op, int dims, const Tensor& given, double p, const PoolOptions& options) {
    return op.call(given, p, options, [&](const Tensor& x0) {
        check_floating(op, x0);
        if (!(p > 0))
            throw Error(ErrorCode::value, std::string(op.name) + ": norm_type is above 0");
        const auto [x] = autocast(pow_op, x0);
        const NoAutocast inside(x.device().kind);
        double count = 1;
        for (const auto size : one_each(op, "kernel_size", options.kernel, dims))
            count *= static_cast<double>(size);
        const Tensor mean = mean_pool(
            dims, pow(widened(x), p),
            {.kernel = options.kernel, .stride = options.stride, .ceil_mode = options.ceil_mode});
        return to(pow(mul(cut_at_zero(mean), count), 1 / p), x.dtype());
    });
}

}  // namespace

Tensor lp_pool1d(const Tensor& x, double p, const PoolOptions& options) {
    return lp_pool(lp_pool1d_op, 1, x, p, options);
}
Tensor lp_pool2d(const Tensor& x, double p, const PoolOptions& options) {
    return lp_pool(lp_pool2d_op, 2, x, p, options);
}
Tensor lp_pool3d(const Tensor& x, double p, const PoolOptions& options) {
    return lp_pool(lp_pool3d_op, 3, x, p, options);
}

}  // namespace engine
