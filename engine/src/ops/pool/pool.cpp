#include "ops/pool/pool.h"

#include <span>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/base/error.h"
#include "ops/index/gather.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/compare.h"
#include "ops/pointwise/unary.h"
#include "ops/shape/view.h"
#include "ops/shape/window.h"
#include "tensor/cast.h"
#include "tensor/check.h"
#include "tensor/transfer.h"

namespace engine {
namespace {

using kernels::Pool2dShape;

/// The windows of a pool along up to three dimensions of space; a sequence is an image of one row.
struct Windows {
    PoolAxis depth, rows, cols;
    bool adaptive = false, count_include_pad = true;
    std::int64_t divisor = 0;
};

Windows fixed_windows(const Op& info, const Tensor& x, const PoolOptions& o) {
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
    if (dims > 1) windows.rows = axis(dims - 2);
    windows.cols = axis(dims - 1);
    windows.count_include_pad = o.count_include_pad;
    windows.divisor = pool_divisor(info, o.divisor_override);
    return windows;
}

Windows adaptive_windows(const Op& info, const Tensor& x, std::span<const std::int64_t> size) {
    const int dims = x.rank() - 2;
    const auto axis = [&](int i) {
        return adaptive_axis(info, x.size(i + 2), size[static_cast<std::size_t>(i)]);
    };
    Windows windows;
    if (dims == 3) windows.depth = axis(0);
    if (dims > 1) windows.rows = axis(dims - 2);
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

/// (N, C, L) as (N, C, 1, L), and the result of a pool of it as a sequence again; images stay.
Tensor as_plane(const Tensor& x) {
    return x.rank() == 3 ? reshape(x, {x.size(0), x.size(1), 1, x.size(2)}) : x;
}
Tensor from_plane(const Tensor& y, const Tensor& x) {
    return x.rank() == 3 ? reshape(y, {y.size(0), y.size(1), y.size(3)}) : y;
}

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
WithIndices max_of(const Op& info, const Tensor& x, const Windows& windows, bool indices) {
    if (x.rank() < 5) {
        const Tensor plane = as_plane(x);
        const MaxPooled found =
            max_pool_planes(info, plane, shape_of(plane, windows.rows, windows.cols, windows, 0));
        return {from_plane(found.y, x),
                indices ? from_plane(to(found.index, DType::i64), x) : Tensor()};
    }
    // Widened, so that gradients of windows that overlap are rounded after both sums.
    const Tensor slices = slices_of(widened(x));
    const MaxPooled flat = max_pool_planes(
        max_pool2d_op, slices, shape_of(slices, windows.rows, windows.cols, windows, 0));
    const Tensor lines = depth_lines(flat.y, x);
    const MaxPooled deep = max_pool_planes(
        info, lines, shape_of(lines, windows.depth, as_they_are(lines), windows, 0));
    return {to(volume_of(deep.y, flat.y), x.dtype()),
            indices ? volume_index(x, flat.index, deep.index) : Tensor()};
}

/// Mean of each window of a batch. Means of means: all slices of a window count as many elements.
Tensor mean_of(const Op& info, const Tensor& x, const Windows& windows) {
    if (x.rank() < 5) {
        const Tensor plane = as_plane(x);
        const Pool2dShape s = shape_of(plane, windows.rows, windows.cols, windows, windows.divisor);
        return from_plane(mean_pool_planes(info, plane, s, windows.adaptive), x);
    }
    const Tensor slices = slices_of(widened(x));
    const Tensor flat = mean_pool_planes(
        avg_pool2d_op, slices,
        shape_of(slices, windows.rows, windows.cols, windows, windows.divisor == 0 ? 0 : 1),
        windows.adaptive);
    const Tensor lines = depth_lines(flat, x);
    const Tensor deep = mean_pool_planes(
        info, lines, shape_of(lines, windows.depth, as_they_are(lines), windows, windows.divisor),
        windows.adaptive);
    return to(volume_of(deep, flat), x.dtype());
}

Windows windows_of(const Op& info, const Tensor& x, const PoolOptions& options) {
    return fixed_windows(info, x, options);
}
template <std::size_t dims>
Windows windows_of(const Op& info, const Tensor& x, const PoolSize<dims>& size) {
    return adaptive_windows(info, x, size);
}

/// `how`: options, or the size of the result.
template <typename How>
WithIndices max_pool(const Op& op, int dims, const Tensor& x0, const How& how, bool indices) {
    return op.call(x0, how, [&](const Tensor& x) -> WithIndices {
        const Tensor batch = pool_batch(op, x, dims);
        const WithIndices found = max_of(op, batch, windows_of(op, batch, how), indices);
        return {without_batch(found.values, x, dims),
                indices ? without_batch(found.indices, x, dims) : Tensor()};
    });
}
template <typename How>
Tensor avg_pool(const Op& op, int dims, const Tensor& x0, const How& how) {
    return op.call(x0, how, [&](const Tensor& x) {
        const Tensor batch = pool_batch(op, x, dims);
        return without_batch(mean_of(op, batch, windows_of(op, batch, how)), x, dims);
    });
}

}  // namespace

WithIndices max_pool1d(const Tensor& x, const PoolOptions& options, bool indices) {
    return max_pool(max_pool1d_op, 1, x, options, indices);
}
Tensor max_pool2d(const Tensor& x, const PoolOptions& options) {
    return max_pool(max_pool2d_op, 2, x, options, false).values;
}
WithIndices max_pool2d_with_indices(const Tensor& x, const PoolOptions& options, bool indices) {
    return max_pool(max_pool2d_op, 2, x, options, indices);
}
WithIndices max_pool3d(const Tensor& x, const PoolOptions& options, bool indices) {
    return max_pool(max_pool3d_op, 3, x, options, indices);
}
WithIndices adaptive_max_pool1d(const Tensor& x, const PoolSize<1>& size, bool indices) {
    return max_pool(adaptive_max_pool1d_op, 1, x, size, indices);
}
WithIndices adaptive_max_pool2d(const Tensor& x, const PoolSize<2>& size, bool indices) {
    return max_pool(adaptive_max_pool2d_op, 2, x, size, indices);
}
WithIndices adaptive_max_pool3d(const Tensor& x, const PoolSize<3>& size, bool indices) {
    return max_pool(adaptive_max_pool3d_op, 3, x, size, indices);
}

Tensor avg_pool1d(const Tensor& x, const PoolOptions& options) {
    return avg_pool(avg_pool1d_op, 1, x, options);
}
Tensor avg_pool2d(const Tensor& x, const PoolOptions& options) {
    return avg_pool(avg_pool2d_op, 2, x, options);
}
Tensor avg_pool3d(const Tensor& x, const PoolOptions& options) {
    return avg_pool(avg_pool3d_op, 3, x, options);
}
Tensor adaptive_avg_pool1d(const Tensor& x, const PoolSize<1>& size) {
    return avg_pool(adaptive_avg_pool1d_op, 1, x, size);
}
Tensor adaptive_avg_pool2d(const Tensor& x, const PoolSize<2>& size) {
    return avg_pool(adaptive_avg_pool2d_op, 2, x, size);
}
Tensor adaptive_avg_pool3d(const Tensor& x, const PoolSize<3>& size) {
    return avg_pool(adaptive_avg_pool3d_op, 3, x, size);
}

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
