#include "ops/pool/pool.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/pool/pool_parts.h"
#include "ops/shape/window.h"
#include "tensor/cast.h"

namespace engine {
namespace {

using kernels::Pool2dShape;
using Pair = std::array<std::int64_t, 2>;

Pair pair(const OpArguments& args, const char* attr, std::int64_t otherwise) {
    const auto values = args.integers(attr, {otherwise});
    if (values.empty() || values.size() > 2) {
        throw Error(ErrorCode::value, std::string(attr) + ": one or two whole numbers, not " +
                                          std::to_string(values.size()));
    }
    return {values.front(), values.back()};
}

Pool2dOptions options_of(const OpArguments& args) {
    Pool2dOptions options{pair(args, "kernel_size", 2),
                          {},
                          pair(args, "padding", 0),
                          pair(args, "dilation", 1),
                          args.flag("count_include_pad", true),
                          args.flag("ceil_mode", false)};
    if (args.has("stride") && !args.integers("stride", {}).empty())
        options.stride = pair(args, "stride", 1);
    if (args.has("divisor_override"))
        options.divisor_override = args.integer("divisor_override", 0);
    return options;
}

TensorList answer(const WithIndices& found, const OpArguments& args) {
    if (args.flag("return_indices", false)) return {found.values, found.indices};
    return {found.values};
}

TensorList run_max(const OpArguments& args) {
    if (!args.flag("return_indices", false)) return {max_pool2d(args.at(0), options_of(args))};
    return answer(max_pool2d_with_indices(args.at(0), options_of(args)), args);
}
TensorList run_avg(const OpArguments& args) { return {avg_pool2d(args.at(0), options_of(args))}; }
TensorList run_adaptive_avg(const OpArguments& args) {
    return {adaptive_avg_pool2d(args.at(0), pair(args, "output_size", 1))};
}
TensorList run_adaptive_max(const OpArguments& args) {
    return answer(adaptive_max_pool2d(args.at(0), pair(args, "output_size", 1)), args);
}

Pool2dShape shape_of(const OpInfo& info, const Tensor& x, const Pool2dOptions& o) {
    const Pair stride = o.stride.value_or(o.kernel);
    const auto axis = [&](int dim, std::size_t i) {
        return pool_axis(info, x.size(dim), o.kernel[i], stride[i], o.padding[i], o.dilation[i],
                         o.ceil_mode);
    };
    return pool_shape(x, axis(2, 0), axis(3, 1));
}

Pool2dShape adaptive_shape(const OpInfo& info, const Tensor& x, const Pair& size) {
    Pool2dShape s = pool_shape(x, adaptive_axis(info, x.size(2), size[0]),
                               adaptive_axis(info, x.size(3), size[1]));
    s.adaptive = true;
    return s;
}

WithIndices with_indices(const MaxPooled& pooled, const Tensor& x) {
    return {without_batch(pooled.y, x, 2), without_batch(to(pooled.index, DType::i64), x, 2)};
}

}  // namespace

const OpInfo max_pool2d_info{
    "max_pool2d",
    CastPolicy::none,
    "max_pool2d(x; kernel_size, stride, padding, dilation, ceil_mode, return_indices)",
    2,
    chooses,
    run_max};
const OpInfo avg_pool2d_info{"avg_pool2d",
                             CastPolicy::none,
                             "avg_pool2d(x; kernel_size, stride, padding, ceil_mode, "
                             "count_include_pad, divisor_override)",
                             2,
                             adds,
                             run_avg};
const OpInfo adaptive_avg_pool2d_info{
    "adaptive_avg_pool2d", CastPolicy::none, "adaptive_avg_pool2d(x; output_size)", 2, adds,
    run_adaptive_avg};
const OpInfo adaptive_max_pool2d_info{"adaptive_max_pool2d",
                                      CastPolicy::none,
                                      "adaptive_max_pool2d(x; output_size, return_indices)",
                                      2,
                                      chooses,
                                      run_adaptive_max};

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
    if (intercepted(max_pool2d_info))
        return dispatched(
            max_pool2d_info, [](const auto&... a) { return max_pool2d(a...); }, x, options);
    const Tensor batch = pool_batch(max_pool2d_info, x, 2);
    return without_batch(
        max_pool_planes(max_pool2d_info, batch, shape_of(max_pool2d_info, batch, options)).y, x, 2);
}

WithIndices max_pool2d_with_indices(const Tensor& x, const Pool2dOptions& options) {
    if (intercepted(max_pool2d_info))
        return dispatched(
            max_pool2d_info, [](const auto&... a) { return max_pool2d_with_indices(a...); }, x,
            options);
    const Tensor batch = pool_batch(max_pool2d_info, x, 2);
    return with_indices(
        max_pool_planes(max_pool2d_info, batch, shape_of(max_pool2d_info, batch, options)), x);
}

Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
    if (intercepted(avg_pool2d_info))
        return dispatched(
            avg_pool2d_info, [](const auto&... a) { return avg_pool2d(a...); }, x, options);
    const Tensor batch = pool_batch(avg_pool2d_info, x, 2);
    Pool2dShape s = shape_of(avg_pool2d_info, batch, options);
    s.count_include_pad = options.count_include_pad;
    s.divisor = pool_divisor(avg_pool2d_info, options.divisor_override);
    return without_batch(mean_pool_planes(avg_pool2d_info, batch, s, false), x, 2);
}

Tensor adaptive_avg_pool2d(const Tensor& x, const Pair& size) {
    if (intercepted(adaptive_avg_pool2d_info))
        return dispatched(
            adaptive_avg_pool2d_info, [](const auto&... a) { return adaptive_avg_pool2d(a...); }, x,
            size);
    const Tensor batch = pool_batch(adaptive_avg_pool2d_info, x, 2);
    const Pool2dShape s = adaptive_shape(adaptive_avg_pool2d_info, batch, size);
    return without_batch(mean_pool_planes(adaptive_avg_pool2d_info, batch, s, true), x, 2);
}

WithIndices adaptive_max_pool2d(const Tensor& x, const Pair& size) {
    if (intercepted(adaptive_max_pool2d_info))
        return dispatched(
            adaptive_max_pool2d_info, [](const auto&... a) { return adaptive_max_pool2d(a...); }, x,
            size);
    const Tensor batch = pool_batch(adaptive_max_pool2d_info, x, 2);
    const Pool2dShape s = adaptive_shape(adaptive_max_pool2d_info, batch, size);
    return with_indices(max_pool_planes(adaptive_max_pool2d_info, batch, s), x);
}

}  // namespace engine
