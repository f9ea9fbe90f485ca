#include "ops/pool/pool_parts.h"

#include <algorithm>

#include "engine/base/error.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/window.h"
#include "tensor/check.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using kernels::Pool2dShape;

constexpr Op max_pool_backward_op("max_pool2d_backward(dy, index)");
constexpr Op max_pool_gather_op("max_pool2d_gather(x, index)");
constexpr Op mean_pool_op("avg_pool2d_forward(x)");
constexpr Op mean_pool_backward_op("avg_pool2d_backward(dy)");

Shape input_shape(const Pool2dShape& s) { return {s.n, s.c, s.h, s.w}; }
Shape output_shape(const Pool2dShape& s) { return {s.n, s.c, s.oh, s.ow}; }

Tensor images(const Shape& shape, const Tensor& like) {
    return Tensor::empty(shape, like.dtype(), like.device(), Layout::channels_last);
}
Tensor nhwc(const Tensor& x) { return in_layout(x, Layout::channels_last); }

Tensor max_gather(const Tensor& x, const Tensor& index, const Pool2dShape& s);

Tensor max_backward(const Tensor& dy, const Tensor& index, const Pool2dShape& s) {
    const Tensor dx = images(input_shape(s), dy), from = nhwc(dy);
    if (dx.numel() > 0)
        on(dy.device(), kernels::cpu::max_pool2d_backward, kernels::cuda::max_pool2d_backward)(
            dx.array(), from.array(), index.array(), s, current_stream());
    return record(
        max_pool_backward_op, {dy}, dx, {save(index)},
        [s](const Tensor& ddx, const Saved& saved) { return max_gather(ddx, saved[0], s); });
}

/// The elements of x that won.
Tensor max_gather(const Tensor& x, const Tensor& index, const Pool2dShape& s) {
    const Tensor y = images(output_shape(s), x), from = nhwc(x);
    if (y.numel() > 0)
        on(x.device(), kernels::cpu::max_pool2d_gather, kernels::cuda::max_pool2d_gather)(
            y.array(), from.array(), index.array(), s, current_stream());
    return record(
        max_pool_gather_op, {x}, y, {save(index)},
        [s](const Tensor& dy, const Saved& saved) { return max_backward(dy, saved[0], s); });
}

/// A mean over windows is linear: its backward's gradient is the forward pass.
Tensor mean_backward(const Tensor& dy, const Pool2dShape& s, bool adaptive) {
    const Tensor dx = images(input_shape(s), dy), from = nhwc(dy);
    const auto kernel = adaptive ? on(dy.device(), kernels::cpu::adaptive_avg_pool2d_backward,
                                      kernels::cuda::adaptive_avg_pool2d_backward)
                                 : on(dy.device(), kernels::cpu::avg_pool2d_backward,
                                      kernels::cuda::avg_pool2d_backward);
    if (dx.numel() > 0) kernel(dx.array(), from.array(), s, current_stream());
    return record(mean_pool_backward_op, {dy}, dx, {},
                  [s, adaptive](const Tensor& ddx, const Saved&) {
                      return mean_pool_planes(mean_pool_op, ddx, s, adaptive);
                  });
}

}  // namespace

PoolAxis pool_axis(const Op& info, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                   std::int64_t padding, std::int64_t dilation, bool ceil_mode) {
    if (kernel < 1 || stride < 1 || dilation < 1 || padding < 0 || padding > kernel / 2 ||
        std::max({kernel, stride, dilation}) > max_step) {
        throw Error(ErrorCode::value,
                    std::string(info.name) + ": kernel, stride and dilation are from 1 to " +
                        std::to_string(max_step) + ", padding is at most half the kernel");
    }
    const std::int64_t span =
        padded_size(size, padding) - window_span(kernel, dilation) + (ceil_mode ? stride - 1 : 0);
    std::int64_t count = span < 0 ? 0 : span / stride + 1;
    // The last window must start inside the image or its padding before it.
    if (ceil_mode && (count - 1) * stride >= size + padding) --count;
    if (count < 1) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": a window of " +
                                          std::to_string(kernel) + " does not fit a size of " +
                                          std::to_string(size));
    }
    return {size, count, kernel, stride, padding, dilation};
}

PoolAxis adaptive_axis(const Op& info, std::int64_t size, std::int64_t out) {
    if (size < 1 || out < 1) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": a size of " +
                                          std::to_string(size) + " does not become " +
                                          std::to_string(out));
    }
    return {size, out};
}

std::int64_t pool_divisor(const Op& info, std::optional<std::int64_t> asked) {
    if (asked && *asked == 0)
        throw Error(ErrorCode::value, std::string(info.name) + ": divisor_override must not be 0");
    return asked.value_or(0);
}

Pool2dShape pool_shape(const Tensor& x, const PoolAxis& rows, const PoolAxis& cols) {
    return {x.size(0),    x.size(1),    rows.in,       cols.in,      rows.out,
            cols.out,     rows.kernel,  cols.kernel,   rows.stride,  cols.stride,
            rows.padding, cols.padding, rows.dilation, cols.dilation};
}

MaxPooled max_pool_planes(const Op& info, const Tensor& x, const Pool2dShape& s) {
    const Tensor y = images(output_shape(s), x), from = nhwc(x);
    const Tensor index =
        Tensor::empty(output_shape(s), DType::i32, x.device(), Layout::channels_last);
    if (y.numel() > 0)
        on(x.device(), kernels::cpu::max_pool2d_forward, kernels::cuda::max_pool2d_forward)(
            y.array(), index.array(), from.array(), s, current_stream());
    return {
        record(info, {x}, y, {save(index)},
               [s](const Tensor& dy, const Saved& saved) { return max_backward(dy, saved[0], s); }),
        index};
}

Tensor mean_pool_planes(const Op& info, const Tensor& x, const Pool2dShape& s, bool adaptive) {
    const Tensor y = images(output_shape(s), x), from = nhwc(x);
    const auto kernel = adaptive ? on(x.device(), kernels::cpu::adaptive_avg_pool2d_forward,
                                      kernels::cuda::adaptive_avg_pool2d_forward)
                                 : on(x.device(), kernels::cpu::avg_pool2d_forward,
                                      kernels::cuda::avg_pool2d_forward);
    if (y.numel() > 0) kernel(y.array(), from.array(), s, current_stream());
    return record(info, {x}, y, {}, [s, adaptive](const Tensor& dy, const Saved&) {
        return mean_backward(dy, s, adaptive);
    });
}

Tensor pool_batch(const Op& info, const Tensor& x, int dims) {
    check_floating(info, x);
    return with_batch(info, x, dims);
}

}  // namespace engine
