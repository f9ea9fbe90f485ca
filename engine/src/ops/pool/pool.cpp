#include "ops/pool/pool.h"

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pointwise/binary.h"
#include "ops/pool/pool_parts.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/transfer.h"

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

namespace {

Pair two(const OpArguments& args, const char* name) {
    const Dims values = one_each(fractional_max_pool2d_info, name, args.integers(name, {2}), 2);
    return {values[0], values[1]};
}
TensorList run(const OpArguments& args) {
    const bool indices = args.flag("return_indices", false);
    const WithIndices found = fractional_max_pool2d(
        args.at(0), args.at(1), two(args, "kernel_size"), two(args, "output_size"), indices);
    if (indices) return {found.values, found.indices};
    return {found.values};
}

/// Where the windows along one dimension start: (N, C, out), i64. sample (N, C, 1), widened.
Tensor starts(const Tensor& sample, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    Tensor last =
        Tensor::full({1, 1, 1}, static_cast<double>(in - kernel), DType::i64, sample.device());
    last = expand(last, {sample.size(0), sample.size(1), 1});
    if (out == 1) return last;
    const double step = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
    const Tensor steps = to(counting({out - 1}, sample.device()), sample.dtype());
    // Casts to integers cut off, which is the floor of what is not negative.
    const Tensor from =
        sub(to(mul(add(sample, steps), step), DType::i64), to(mul(sample, step), DType::i64));
    return cat({from, last}, 2);
}

void check(const Tensor& x, const Tensor& samples, const Pair& kernel, const Pair& size) {
    const OpInfo& info = fractional_max_pool2d_info;
    check_shapes(info,
                 samples.rank() == 3 && samples.size(0) == x.size(0) &&
                     samples.size(1) == x.size(1) && samples.size(2) == 2,
                 x, samples);
    for (int i = 0; i < 2; ++i) {
        const auto at = static_cast<std::size_t>(i);
        if (kernel[at] < 1 || size[at] < 1 || kernel[at] > x.size(i + 2) ||
            size[at] - 1 > x.size(i + 2) - kernel[at]) {
            throw Error(ErrorCode::shape, std::string(info.name) + ": " + std::to_string(size[at]) +
                                              " windows of " + std::to_string(kernel[at]) +
                                              " do not fit a size of " +
                                              std::to_string(x.size(i + 2)));
        }
    }
}

/// Places in the plane that each window sees: (N, C, OH OW, kernel), i64.
Tensor window_places(const Tensor& x, const Tensor& samples, const Pair& kernel, const Pair& size) {
    const std::int64_t n = x.size(0), c = x.size(1);
    const GradMode off(false);
    const Tensor wide = widened(samples);
    const Tensor top = starts(narrow(wide, 2, 1, 1), x.size(2), size[0], kernel[0]);
    const Tensor left = starts(narrow(wide, 2, 0, 1), x.size(3), size[1], kernel[1]);
    const Tensor rows =
        add(reshape(top, {n, c, size[0], 1, 1, 1}), counting({kernel[0], 1}, x.device()));
    const Tensor cols =
        add(reshape(left, {n, c, 1, size[1], 1, 1}), counting({kernel[1]}, x.device()));
    const Tensor line = Tensor::full({1}, static_cast<double>(x.size(3)), DType::i64, x.device());
    return reshape(add(mul(rows, line), cols), {n, c, size[0] * size[1], kernel[0] * kernel[1]});
}

}  // namespace

const OpInfo fractional_max_pool2d_info{
    "fractional_max_pool2d",
    CastPolicy::none,
    "fractional_max_pool2d(x, samples; kernel_size, output_size, return_indices)",
    2,
    "Chooses values: nothing is lost in its input's type.",
    run};

WithIndices fractional_max_pool2d(const Tensor& x0, const Tensor& samples0, const Pair& kernel,
                                  const Pair& size, bool indices) {
    if (intercepted(fractional_max_pool2d_info))
        return dispatched(
            fractional_max_pool2d_info,
            [](const auto&... a) { return fractional_max_pool2d(a...); }, x0, samples0, kernel,
            size, indices);
    const OpInfo& info = fractional_max_pool2d_info;
    one_type(info, {x0, samples0});
    const Tensor x = pool_batch(info, x0, 2);
    const Tensor samples = samples0.rank() == 2
                               ? reshape(samples0, {1, samples0.size(0), samples0.size(1)})
                               : samples0;
    check(x, samples, kernel, size);
    const NoAutocast inside(x.device().kind);
    const std::int64_t n = x.size(0), c = x.size(1), windows = size[0] * size[1],
                       taps = kernel[0] * kernel[1];
    check_shape({n, c, windows, taps});
    const Tensor places = window_places(x, samples, kernel, size);
    const Tensor seen = reshape(gather(reshape(x, {n, c, x.size(2) * x.size(3)}), 2,
                                       reshape(places, {n, c, windows * taps})),
                                {n, c, windows, taps});
    const MaxPooled found =
        max_pool_planes(info, seen, pool_shape(seen, {windows, windows}, {taps, 1, taps, taps}));
    const auto plane = [&](const Tensor& y) {
        return without_batch(reshape(y, {n, c, size[0], size[1]}), x0, 2);
    };
    if (!indices) return {plane(found.y), {}};
    const Tensor winners = reshape(to(found.index, DType::i64), {n, c, windows});
    return {plane(found.y), plane(gather(reshape(places, {n, c, windows * taps}), 2, winners))};
}

}  // namespace engine
