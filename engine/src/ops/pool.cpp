#include "ops/pool.h"

#include "engine/error.h"
#include "kernels/pool.h"
#include "ops/check.h"
#include "ops/layout.h"
#include "ops/view.h"

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
    return options;
}

TensorList run_max(const OpArguments& args) { return {max_pool2d(args.at(0), options_of(args))}; }
TensorList run_avg(const OpArguments& args) { return {avg_pool2d(args.at(0), options_of(args))}; }
TensorList run_adaptive(const OpArguments& args) {
    return {adaptive_avg_pool2d(args.at(0), pair(args, "output_size", 1))};
}

constexpr const char* no_entry = "Not on the autocast list: runs in its input's type.";
const OpInfo max_backward_info{"max_pool2d_backward", CastPolicy::none,
                               "max_pool2d_backward(dy, index)", 2, no_entry};
const OpInfo max_gather_info{"max_pool2d_gather", CastPolicy::none, "max_pool2d_gather(x, index)",
                             2, no_entry};
const OpInfo avg_backward_info{"avg_pool2d_backward", CastPolicy::none, "avg_pool2d_backward(dy)",
                               2, no_entry};
const OpInfo adaptive_backward_info{"adaptive_avg_pool2d_backward", CastPolicy::none,
                                    "adaptive_avg_pool2d_backward(dy)", 2, no_entry};

Shape input_shape(const Pool2dShape& s) { return {s.n, s.c, s.h, s.w}; }
Shape output_shape(const Pool2dShape& s) { return {s.n, s.c, s.oh, s.ow}; }

Tensor images(const Shape& shape, const Tensor& like) {
    return Tensor::empty(shape, like.dtype(), like.device(), Layout::channels_last);
}
Tensor nhwc(const Tensor& x) { return in_layout(x, Layout::channels_last); }

Tensor max_gather(const Tensor& x, const Tensor& index, const Pool2dShape& s);

Tensor max_backward(const Tensor& dy, const Tensor& index, const Pool2dShape& s) {
    const Tensor dx = images(input_shape(s), dy), from = nhwc(dy);
    on(dy.device(), kernels::cpu::max_pool2d_backward, kernels::cuda::max_pool2d_backward)(
        dx.array(), from.array(), index.array(), s, current_stream());
    return record(
        max_backward_info, {dy}, dx, {save(index)},
        [s](const Tensor& ddx, const Saved& saved) { return max_gather(ddx, saved[0], s); });
}

/// The elements of x that won.
Tensor max_gather(const Tensor& x, const Tensor& index, const Pool2dShape& s) {
    const Tensor y = images(output_shape(s), x), from = nhwc(x);
    on(x.device(), kernels::cpu::max_pool2d_gather, kernels::cuda::max_pool2d_gather)(
        y.array(), from.array(), index.array(), s, current_stream());
    return record(
        max_gather_info, {x}, y, {save(index)},
        [s](const Tensor& dy, const Saved& saved) { return max_backward(dy, saved[0], s); });
}

/// A mean over windows is linear: its backward's gradient is the forward pass.
struct LinearPool {
    const OpInfo* forward_info;
    const OpInfo* backward_info;
    kernels::AvgPool2dForward *cpu_forward, *cuda_forward;
    kernels::AvgPool2dBackward *cpu_backward, *cuda_backward;
};
const LinearPool average{&avg_pool2d_info,
                         &avg_backward_info,
                         kernels::cpu::avg_pool2d_forward,
                         kernels::cuda::avg_pool2d_forward,
                         kernels::cpu::avg_pool2d_backward,
                         kernels::cuda::avg_pool2d_backward};
const LinearPool adaptive{&adaptive_avg_pool2d_info,
                          &adaptive_backward_info,
                          kernels::cpu::adaptive_avg_pool2d_forward,
                          kernels::cuda::adaptive_avg_pool2d_forward,
                          kernels::cpu::adaptive_avg_pool2d_backward,
                          kernels::cuda::adaptive_avg_pool2d_backward};

Tensor linear_forward(const LinearPool& pool, const Tensor& x, const Pool2dShape& s);

Tensor linear_backward(const LinearPool& pool, const Tensor& dy, const Pool2dShape& s) {
    const Tensor dx = images(input_shape(s), dy), from = nhwc(dy);
    on(dy.device(), pool.cpu_backward, pool.cuda_backward)(dx.array(), from.array(), s,
                                                           current_stream());
    return record(*pool.backward_info, {dy}, dx, {}, [&pool, s](const Tensor& ddx, const Saved&) {
        return linear_forward(pool, ddx, s);
    });
}

Tensor linear_forward(const LinearPool& pool, const Tensor& x, const Pool2dShape& s) {
    const Tensor y = images(output_shape(s), x), from = nhwc(x);
    on(x.device(), pool.cpu_forward, pool.cuda_forward)(y.array(), from.array(), s,
                                                        current_stream());
    return record(*pool.forward_info, {x}, y, {}, [&pool, s](const Tensor& dy, const Saved&) {
        return linear_backward(pool, dy, s);
    });
}

/// x as a batch: (C, H, W) becomes (1, C, H, W).
Tensor batch_of(const OpInfo& info, const Tensor& x) {
    check_floating(info, x);
    if (x.rank() == 3) return reshape(x, {1, x.size(0), x.size(1), x.size(2)});
    check_rank(info, x, 4);
    return x;
}
Tensor unbatch(const Tensor& y, const Tensor& x) {
    return x.rank() == 4 ? y : reshape(y, {y.size(1), y.size(2), y.size(3)});
}

std::int64_t window_count(const OpInfo& info, std::int64_t size, std::int64_t kernel,
                          std::int64_t stride, std::int64_t padding, std::int64_t dilation,
                          bool ceil_mode) {
    if (kernel < 1 || stride < 1 || dilation < 1 || padding < 0 || padding > kernel / 2) {
        throw Error(ErrorCode::value, std::string(info.name) +
                                          ": kernel, stride and dilation start at 1, padding is "
                                          "at most half the kernel");
    }
    const std::int64_t span = size + 2 * padding - dilation * (kernel - 1) - 1;
    if (span < 0) {
        throw Error(ErrorCode::shape, std::string(info.name) + ": a window of " +
                                          std::to_string(kernel) + " does not fit a size of " +
                                          std::to_string(size));
    }
    const std::int64_t count = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
    // The last window must start inside the image or its padding before it.
    return ceil_mode && (count - 1) * stride >= size + padding ? count - 1 : count;
}

Pool2dShape shape_of(const OpInfo& info, const Tensor& x, const Pool2dOptions& o) {
    const Pair stride = o.stride.value_or(o.kernel);
    const auto count = [&](int dim, std::size_t i) {
        return window_count(info, x.size(dim), o.kernel[i], stride[i], o.padding[i], o.dilation[i],
                            o.ceil_mode);
    };
    return {x.size(0),    x.size(1),    x.size(2),     x.size(3),     count(2, 0),
            count(3, 1),  o.kernel[0],  o.kernel[1],   stride[0],     stride[1],
            o.padding[0], o.padding[1], o.dilation[0], o.dilation[1], o.count_include_pad};
}

}  // namespace

const OpInfo max_pool2d_info{"max_pool2d",
                             CastPolicy::none,
                             "max_pool2d(x; kernel_size, stride, padding, dilation, ceil_mode)",
                             2,
                             "Chooses values: nothing is lost in its input's type.",
                             run_max};
const OpInfo avg_pool2d_info{
    "avg_pool2d",
    CastPolicy::none,
    "avg_pool2d(x; kernel_size, stride, padding, ceil_mode, count_include_pad)",
    2,
    "Not on the list: adds in fp32 and rounds to its input's type.",
    run_avg};
const OpInfo adaptive_avg_pool2d_info{
    "adaptive_avg_pool2d",
    CastPolicy::none,
    "adaptive_avg_pool2d(x; output_size)",
    2,
    "Not on the list: adds in fp32 and rounds to its input's type.",
    run_adaptive};

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
    const Tensor batch = batch_of(max_pool2d_info, x);
    const Pool2dShape s = shape_of(max_pool2d_info, batch, options);
    const Tensor y = images(output_shape(s), x), from = nhwc(batch);
    const Tensor index =
        Tensor::empty(output_shape(s), DType::i32, x.device(), Layout::channels_last);
    on(x.device(), kernels::cpu::max_pool2d_forward, kernels::cuda::max_pool2d_forward)(
        y.array(), index.array(), from.array(), s, current_stream());
    return unbatch(
        record(max_pool2d_info, {batch}, y, {save(index)},
               [s](const Tensor& dy, const Saved& saved) { return max_backward(dy, saved[0], s); }),
        x);
}

Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
    const Tensor batch = batch_of(avg_pool2d_info, x);
    return unbatch(linear_forward(average, batch, shape_of(avg_pool2d_info, batch, options)), x);
}

Tensor adaptive_avg_pool2d(const Tensor& x, const std::array<std::int64_t, 2>& size) {
    const Tensor batch = batch_of(adaptive_avg_pool2d_info, x);
    if (std::min(size[0], size[1]) < 1 || batch.size(2) < 1 || batch.size(3) < 1) {
        throw Error(ErrorCode::shape, "adaptive_avg_pool2d: " + to_string(x.shape()) +
                                          " does not become " + to_string(Shape{size[0], size[1]}));
    }
    const Pool2dShape s{
        batch.size(0), batch.size(1), batch.size(2), batch.size(3), size[0], size[1], 1, 1, 1, 1};
    return unbatch(linear_forward(adaptive, batch, s), x);
}

}  // namespace engine
