#include "ops/pool/pool_space.h"

#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pointwise/binary.h"
#include "ops/pool/pool_parts.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/cast.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using kernels::Pool2dShape;
using Integers = std::vector<std::int64_t>;

PoolOptions space_options(const OpArguments& args) {
    PoolOptions options{args.integers("kernel_size", {2}),
                        args.has("stride") ? args.integers("stride", {}) : Integers{},
                        args.integers("padding", {0}),
                        args.integers("dilation", {1}),
                        args.flag("count_include_pad", true),
                        args.flag("ceil_mode", false)};
    if (args.has("divisor_override"))
        options.divisor_override = args.integer("divisor_override", 0);
    return options;
}

TensorList answer(const WithIndices& found) {
    if (found.indices.defined()) return {found.values, found.indices};
    return {found.values};
}
bool wants_indices(const OpArguments& args) { return args.flag("return_indices", false); }

template <WithIndices (*op)(const Tensor&, const PoolOptions&, bool)>
TensorList run_max(const OpArguments& args) {
    return answer(op(args.at(0), space_options(args), wants_indices(args)));
}
template <Tensor (*op)(const Tensor&, const PoolOptions&)>
TensorList run_avg(const OpArguments& args) {
    return {op(args.at(0), space_options(args))};
}

std::int64_t one_size(const OpInfo& info, const OpArguments& args) {
    return one_each(info, "output_size", args.integers("output_size", {1}), 1)[0];
}
std::array<std::int64_t, 3> three_sizes(const OpInfo& info, const OpArguments& args) {
    const Dims sizes = one_each(info, "output_size", args.integers("output_size", {1}), 3);
    return {sizes[0], sizes[1], sizes[2]};
}
TensorList run_adaptive_avg1d(const OpArguments& args) {
    return {adaptive_avg_pool1d(args.at(0), one_size(adaptive_avg_pool1d_info, args))};
}
TensorList run_adaptive_avg3d(const OpArguments& args) {
    return {adaptive_avg_pool3d(args.at(0), three_sizes(adaptive_avg_pool3d_info, args))};
}
TensorList run_adaptive_max1d(const OpArguments& args) {
    return answer(adaptive_max_pool1d(args.at(0), one_size(adaptive_max_pool1d_info, args),
                                      wants_indices(args)));
}
TensorList run_adaptive_max3d(const OpArguments& args) {
    return answer(adaptive_max_pool3d(args.at(0), three_sizes(adaptive_max_pool3d_info, args),
                                      wants_indices(args)));
}

/// The windows of a pool along one or three dimensions of space; a sequence is an image of one row.
struct Windows {
    PoolAxis depth, rows, cols;
    bool adaptive = false, count_include_pad = true;
    std::int64_t divisor = 0;
};

Windows fixed_windows(const OpInfo& info, const Tensor& x, const PoolOptions& o) {
    const int dims = x.rank() - 2;
    const Dims kernel = one_each(info, "kernel_size", o.kernel, dims),
               stride = o.stride.empty() ? kernel : one_each(info, "stride", o.stride, dims),
               padding = one_each(info, "padding", o.padding, dims),
               dilation = one_each(info, "dilation", o.dilation, dims);
    const auto axis = [&](int i) {
        return pool_axis(info, x.size(i + 2), kernel[i], stride[i], padding[i], dilation[i],
                         o.ceil_mode);
    };
    Windows windows;
    if (dims == 3) windows.depth = axis(0);
    if (dims == 3) windows.rows = axis(1);
    windows.cols = axis(dims - 1);
    windows.count_include_pad = o.count_include_pad;
    windows.divisor = pool_divisor(info, o.divisor_override);
    return windows;
}

Windows adaptive_windows(const OpInfo& info, const Tensor& x, const Integers& size) {
    const int dims = x.rank() - 2;
    const auto axis = [&](int i) {
        return adaptive_axis(info, x.size(i + 2), size[static_cast<std::size_t>(i)]);
    };
    Windows windows;
    if (dims == 3) windows.depth = axis(0);
    if (dims == 3) windows.rows = axis(1);
    windows.cols = axis(dims - 1);
    windows.adaptive = true;
    return windows;
}

Pool2dShape shape_of(const Tensor& planes, const PoolAxis& rows, const PoolAxis& cols,
                     const Windows& windows, std::int64_t divisor) {
    Pool2dShape s = pool_shape(planes, rows, cols);
    s.adaptive = windows.adaptive;
    s.count_include_pad = windows.count_include_pad;
    s.divisor = divisor;
    return s;
}

/// (N, C, L) as (N, C, 1, L), and the result of a pool of it as a sequence again.
Tensor as_row(const Tensor& x) { return reshape(x, {x.size(0), x.size(1), 1, x.size(2)}); }
Tensor from_row(const Tensor& y) { return reshape(y, {y.size(0), y.size(1), y.size(3)}); }

/// A pool of a volume is one of each slice, (N, C D, H, W), then one over depth, (N, C, D, OH OW).
Tensor slices_of(const Tensor& x) {
    return reshape(x, {x.size(0), x.size(1) * x.size(2), x.size(3), x.size(4)});
}
Tensor depth_lines(const Tensor& slices, const Tensor& x) {
    return reshape(slices, {x.size(0), x.size(1), x.size(2), slices.size(2) * slices.size(3)});
}
Tensor volume_of(const Tensor& lines, const Tensor& slices) {
    return reshape(lines,
                   {lines.size(0), lines.size(1), lines.size(2), slices.size(2), slices.size(3)});
}
PoolAxis as_they_are(const Tensor& lines) { return {lines.size(3), lines.size(3)}; }

/// Where in the volume x the winners over depth came from, from their places in their slices.
Tensor volume_index(const Tensor& x, const Tensor& in_slice, const Tensor& over_depth) {
    const std::int64_t n = x.size(0), c = x.size(1), depth = x.size(2),
                       pixels = in_slice.size(2) * in_slice.size(3);
    const Tensor starts = Tensor::empty({depth, 1}, DType::i64, Device{});
    for (std::int64_t d = 0; d < depth; ++d)
        starts.data_as<std::int64_t>()[d] = d * x.size(3) * x.size(4);
    const Tensor offset = constant_on(x.device(), starts);
    const Tensor in_volume = add(reshape(to(in_slice, DType::i64), {n, c, depth, pixels}), offset);
    const Tensor winners = reshape(to(over_depth, DType::i64), {n, c, over_depth.size(2) * pixels});
    return volume_of(reshape(gather(reshape(in_volume, {n, c, depth * pixels}), 2, winners),
                             {n, c, over_depth.size(2), pixels}),
                     in_slice);
}

/// Largest of each window of a batch. The first largest of the slices' first ones is the first.
WithIndices max_of(const OpInfo& info, const Tensor& x, const Windows& windows, bool indices) {
    if (x.rank() == 3) {
        const Tensor row = as_row(x);
        const MaxPooled found =
            max_pool_planes(info, row, shape_of(row, windows.rows, windows.cols, windows, 0));
        return {from_row(found.y), indices ? from_row(to(found.index, DType::i64)) : Tensor()};
    }
    // Widened, so that gradients of windows that overlap are rounded after both sums.
    const Tensor slices = slices_of(widened(x));
    const MaxPooled flat = max_pool_planes(
        max_pool2d_info, slices, shape_of(slices, windows.rows, windows.cols, windows, 0));
    const Tensor lines = depth_lines(flat.y, x);
    const MaxPooled deep = max_pool_planes(
        info, lines, shape_of(lines, windows.depth, as_they_are(lines), windows, 0));
    return {to(volume_of(deep.y, flat.y), x.dtype()),
            indices ? volume_index(x, flat.index, deep.index) : Tensor()};
}

/// Mean of each window of a batch. Means of means: all slices of a window count as many elements.
Tensor mean_of(const OpInfo& info, const Tensor& x, const Windows& windows) {
    if (x.rank() == 3) {
        const Tensor row = as_row(x);
        return from_row(mean_pool_planes(
            info, row, shape_of(row, windows.rows, windows.cols, windows, windows.divisor),
            windows.adaptive));
    }
    const Tensor slices = slices_of(widened(x));
    const Tensor flat = mean_pool_planes(
        avg_pool2d_info, slices,
        shape_of(slices, windows.rows, windows.cols, windows, windows.divisor == 0 ? 0 : 1),
        windows.adaptive);
    const Tensor lines = depth_lines(flat, x);
    const Tensor deep = mean_pool_planes(
        info, lines, shape_of(lines, windows.depth, as_they_are(lines), windows, windows.divisor),
        windows.adaptive);
    return to(volume_of(deep, flat), x.dtype());
}

WithIndices max_pool(const OpInfo& info, int dims, const Tensor& x, const PoolOptions& options,
                     bool indices) {
    const Tensor batch = pool_batch(info, x, dims);
    const WithIndices found = max_of(info, batch, fixed_windows(info, batch, options), indices);
    return {without_batch(found.values, x, dims),
            indices ? without_batch(found.indices, x, dims) : Tensor()};
}
WithIndices adaptive_max_pool(const OpInfo& info, int dims, const Tensor& x, const Integers& size,
                              bool indices) {
    const Tensor batch = pool_batch(info, x, dims);
    const WithIndices found = max_of(info, batch, adaptive_windows(info, batch, size), indices);
    return {without_batch(found.values, x, dims),
            indices ? without_batch(found.indices, x, dims) : Tensor()};
}
Tensor avg_pool(const OpInfo& info, int dims, const Tensor& x, const PoolOptions& options) {
    const Tensor batch = pool_batch(info, x, dims);
    return without_batch(mean_of(info, batch, fixed_windows(info, batch, options)), x, dims);
}
Tensor adaptive_avg_pool(const OpInfo& info, int dims, const Tensor& x, const Integers& size) {
    const Tensor batch = pool_batch(info, x, dims);
    return without_batch(mean_of(info, batch, adaptive_windows(info, batch, size)), x, dims);
}

}  // namespace

const OpInfo max_pool1d_info{
    "max_pool1d",
    CastPolicy::none,
    "max_pool1d(x; kernel_size, stride, padding, dilation, ceil_mode, return_indices)",
    2,
    chooses,
    run_max<max_pool1d>};
const OpInfo max_pool3d_info{
    "max_pool3d",
    CastPolicy::none,
    "max_pool3d(x; kernel_size, stride, padding, dilation, ceil_mode, return_indices)",
    2,
    chooses,
    run_max<max_pool3d>};
const OpInfo avg_pool1d_info{
    "avg_pool1d",
    CastPolicy::none,
    "avg_pool1d(x; kernel_size, stride, padding, ceil_mode, count_include_pad)",
    2,
    adds,
    run_avg<avg_pool1d>};
const OpInfo avg_pool3d_info{"avg_pool3d",
                             CastPolicy::none,
                             "avg_pool3d(x; kernel_size, stride, padding, ceil_mode, "
                             "count_include_pad, divisor_override)",
                             2,
                             adds,
                             run_avg<avg_pool3d>};
const OpInfo adaptive_avg_pool1d_info{
    "adaptive_avg_pool1d", CastPolicy::none, "adaptive_avg_pool1d(x; output_size)", 2, adds,
    run_adaptive_avg1d};
const OpInfo adaptive_avg_pool3d_info{
    "adaptive_avg_pool3d", CastPolicy::none, "adaptive_avg_pool3d(x; output_size)", 2, adds,
    run_adaptive_avg3d};
const OpInfo adaptive_max_pool1d_info{"adaptive_max_pool1d",
                                      CastPolicy::none,
                                      "adaptive_max_pool1d(x; output_size, return_indices)",
                                      2,
                                      chooses,
                                      run_adaptive_max1d};
const OpInfo adaptive_max_pool3d_info{"adaptive_max_pool3d",
                                      CastPolicy::none,
                                      "adaptive_max_pool3d(x; output_size, return_indices)",
                                      2,
                                      chooses,
                                      run_adaptive_max3d};

WithIndices max_pool1d(const Tensor& x, const PoolOptions& options, bool indices) {
    if (intercepted(max_pool1d_info))
        return dispatched(
            max_pool1d_info, [](const auto&... a) { return max_pool1d(a...); }, x, options,
            indices);
    return max_pool(max_pool1d_info, 1, x, options, indices);
}
WithIndices max_pool3d(const Tensor& x, const PoolOptions& options, bool indices) {
    if (intercepted(max_pool3d_info))
        return dispatched(
            max_pool3d_info, [](const auto&... a) { return max_pool3d(a...); }, x, options,
            indices);
    return max_pool(max_pool3d_info, 3, x, options, indices);
}
WithIndices adaptive_max_pool1d(const Tensor& x, std::int64_t size, bool indices) {
    if (intercepted(adaptive_max_pool1d_info))
        return dispatched(
            adaptive_max_pool1d_info, [](const auto&... a) { return adaptive_max_pool1d(a...); }, x,
            size, indices);
    return adaptive_max_pool(adaptive_max_pool1d_info, 1, x, {size}, indices);
}
WithIndices adaptive_max_pool3d(const Tensor& x, const std::array<std::int64_t, 3>& size,
                                bool indices) {
    if (intercepted(adaptive_max_pool3d_info))
        return dispatched(
            adaptive_max_pool3d_info, [](const auto&... a) { return adaptive_max_pool3d(a...); }, x,
            size, indices);
    return adaptive_max_pool(adaptive_max_pool3d_info, 3, x, {size[0], size[1], size[2]}, indices);
}

Tensor avg_pool1d(const Tensor& x, const PoolOptions& options) {
    if (intercepted(avg_pool1d_info))
        return dispatched(
            avg_pool1d_info, [](const auto&... a) { return avg_pool1d(a...); }, x, options);
    return avg_pool(avg_pool1d_info, 1, x, options);
}
Tensor avg_pool3d(const Tensor& x, const PoolOptions& options) {
    if (intercepted(avg_pool3d_info))
        return dispatched(
            avg_pool3d_info, [](const auto&... a) { return avg_pool3d(a...); }, x, options);
    return avg_pool(avg_pool3d_info, 3, x, options);
}
Tensor adaptive_avg_pool1d(const Tensor& x, std::int64_t size) {
    if (intercepted(adaptive_avg_pool1d_info))
        return dispatched(
            adaptive_avg_pool1d_info, [](const auto&... a) { return adaptive_avg_pool1d(a...); }, x,
            size);
    return adaptive_avg_pool(adaptive_avg_pool1d_info, 1, x, {size});
}
Tensor adaptive_avg_pool3d(const Tensor& x, const std::array<std::int64_t, 3>& size) {
    if (intercepted(adaptive_avg_pool3d_info))
        return dispatched(
            adaptive_avg_pool3d_info, [](const auto&... a) { return adaptive_avg_pool3d(a...); }, x,
            size);
    return adaptive_avg_pool(adaptive_avg_pool3d_info, 3, x, {size[0], size[1], size[2]});
}

}  // namespace engine
