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

template <Tensor (*op)(const Tensor&, double, const PoolOptions&)>
TensorList run(const OpArguments& args) {
    PoolOptions options{args.integers("kernel_size", {2})};
    if (args.has("stride")) options.stride = args.integers("stride", {});
    options.ceil_mode = args.flag("ceil_mode", false);
    return {op(args.at(0), args.number("norm_type", 2), options)};
}

Tensor mean_pool(const OpInfo& info, int dims, const Tensor& x, const PoolOptions& o) {
    if (dims == 1) return avg_pool1d(x, o);
    if (dims == 3) return avg_pool3d(x, o);
    const Dims kernel = one_each(info, "kernel_size", o.kernel, 2);
    Pool2dOptions options{.kernel = {kernel[0], kernel[1]}, .ceil_mode = o.ceil_mode};
    if (!o.stride.empty()) {
        const Dims stride = one_each(info, "stride", o.stride, 2);
        options.stride = {{stride[0], stride[1]}};
    }
    return avg_pool2d(x, options);
}

/// x, with the gradient 0 where it is 0: there the root's would be infinite.
Tensor cut_at_zero(const Tensor& x) {
    const Tensor zero = Tensor::scalar(0, x.dtype(), x.device()),
                 one = Tensor::scalar(1, x.dtype(), x.device());
    const Tensor sign = where(greater(x, zero), one, where(less(x, zero), neg(one), zero));
    return mul(sign, relu(abs(x)));
}

Tensor lp_pool(const OpInfo& info, int dims, const Tensor& x0, double p,
               const PoolOptions& options) {
    check_floating(info, x0);
    if (!(p > 0)) throw Error(ErrorCode::value, std::string(info.name) + ": norm_type is above 0");
    const auto [x] = autocast(pow_op, x0);
    const NoAutocast inside(x.device().kind);
    double count = 1;
    for (const auto size : one_each(info, "kernel_size", options.kernel, dims))
        count *= static_cast<double>(size);
    const Tensor mean = mean_pool(info, dims, pow(widened(x), p), options);
    return to(pow(mul(cut_at_zero(mean), count), 1 / p), x.dtype());
}

constexpr const char* of_powers =
    "Not on the list itself, but built of pow, which is: so fp32 under autocast.";

}  // namespace

const OpInfo lp_pool1d_info{
    "lp_pool1d", CastPolicy::none, "lp_pool1d(x; norm_type, kernel_size, stride, ceil_mode)",
    2,           of_powers,        run<lp_pool1d>};
const OpInfo lp_pool2d_info{
    "lp_pool2d", CastPolicy::none, "lp_pool2d(x; norm_type, kernel_size, stride, ceil_mode)",
    2,           of_powers,        run<lp_pool2d>};
const OpInfo lp_pool3d_info{
    "lp_pool3d", CastPolicy::none, "lp_pool3d(x; norm_type, kernel_size, stride, ceil_mode)",
    2,           of_powers,        run<lp_pool3d>};

Tensor lp_pool1d(const Tensor& x, double p, const PoolOptions& options) {
    if (intercepted(lp_pool1d_info))
        return dispatched(
            lp_pool1d_info, [](const auto&... a) { return lp_pool1d(a...); }, x, p, options);
    return lp_pool(lp_pool1d_info, 1, x, p, options);
}
Tensor lp_pool2d(const Tensor& x, double p, const PoolOptions& options) {
    if (intercepted(lp_pool2d_info))
        return dispatched(
            lp_pool2d_info, [](const auto&... a) { return lp_pool2d(a...); }, x, p, options);
    return lp_pool(lp_pool2d_info, 2, x, p, options);
}
Tensor lp_pool3d(const Tensor& x, double p, const PoolOptions& options) {
    if (intercepted(lp_pool3d_info))
        return dispatched(
            lp_pool3d_info, [](const auto&... a) { return lp_pool3d(a...); }, x, p, options);
    return lp_pool(lp_pool3d_info, 3, x, p, options);
}

}  // namespace engine
