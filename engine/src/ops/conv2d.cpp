#include "ops/conv2d.h"

#include "amp/autocast.h"
#include "engine/error.h"
#include "kernels/conv2d.h"
#include "ops/check.h"
#include "ops/layout.h"
#include "ops/reduce.h"
#include "ops/view.h"

namespace engine {
namespace {

using kernels::Conv2dShape;

std::array<std::int64_t, 2> pair(const OpArguments& args, const char* attr,
                                 std::int64_t otherwise) {
    const auto values = args.integers(attr, {otherwise});
    if (values.empty() || values.size() > 2) {
        throw Error(ErrorCode::value, std::string(attr) + ": one or two whole numbers, not " +
                                          std::to_string(values.size()));
    }
    return {values.front(), values.back()};
}

TensorList run_conv2d(const OpArguments& args) {
    const Conv2dOptions options{pair(args, "stride", 1), pair(args, "padding", 0),
                                pair(args, "dilation", 1), args.integer("groups", 1)};
    return {conv2d(args.at(0), args.at(1), args.get(2), options)};
}

constexpr const char* gradient_why =
    "Its inputs have the convolution's types; sums in fp32, one rounding.";
const OpInfo input_gradient_info{"conv2d_input_gradient", CastPolicy::none,
                                 "conv2d_input_gradient(dy, weight; shape)", 2, gradient_why};
const OpInfo weight_gradient_info{"conv2d_weight_gradient", CastPolicy::none,
                                  "conv2d_weight_gradient(dy, x; shape)", 2, gradient_why};

Shape output_shape(const Conv2dShape& s) { return {s.n, s.k, s.oh(), s.ow()}; }
Shape input_shape(const Conv2dShape& s) { return {s.n, s.c, s.h, s.w}; }
Shape weight_shape(const Conv2dShape& s) { return {s.k, s.c / s.groups, s.r, s.s}; }

Tensor nhwc(const Tensor& x) { return in_layout(x, Layout::channels_last); }
Tensor dense_weight(const Tensor& w) { return in_layout(w, Layout::contiguous); }

/// The convolution itself, outside the tape.
Tensor compute(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dShape& s) {
    Tensor y = Tensor::empty(output_shape(s), x.dtype(), x.device(), Layout::channels_last);
    if (y.numel() == 0) return y;
    const Tensor from = nhwc(x), w = dense_weight(weight), b = bias.defined() ? dense(bias) : bias;
    const kernels::ConstArray none{nullptr, x.dtype(), 0};
    on(x.device(), kernels::cpu::conv2d_forward, kernels::cuda::conv2d_forward)(
        y.array(), from.array(), w.array(), b.defined() ? b.array() : none, s, current_stream());
    return y;
}

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dShape& s);
Tensor input_gradient(const Tensor& dy, const Tensor& weight, const Conv2dShape& s);
TensorList weight_gradient(const Tensor& dy, const Tensor& x, const Conv2dShape& s, bool with_bias);

/// dx (N, C, H, W) of the convolution that made dy. Linear in dy and in weight.
Tensor input_gradient(const Tensor& dy, const Tensor& weight, const Conv2dShape& s) {
    const Tensor dx = Tensor::empty(input_shape(s), dy.dtype(), dy.device(), Layout::channels_last);
    if (dx.numel() > 0) {
        const Tensor from = nhwc(dy), w = dense_weight(weight);
        on(dy.device(), kernels::cpu::conv2d_data_gradient, kernels::cuda::conv2d_data_gradient)(
            dx.array(), from.array(), w.array(), s, current_stream());
    }
    const Tensor inputs[] = {dy, weight};
    return record_many(
        input_gradient_info, inputs, dx,
        {weight.requires_grad() ? save(dy) : Save{}, dy.requires_grad() ? save(weight) : Save{}},
        [s](std::span<const Tensor> grads, const Saved& saved) {
            TensorList out(2);
            if (saved.wants(0)) out[0] = convolve(grads[0], saved[1], {}, s);
            if (saved.wants(1)) out[1] = weight_gradient(saved[0], grads[0], s, false)[0];
            return out;
        });
}

/// The kernel's work, outside the tape: dw and, if asked, db.
TensorList compute_weight_gradient(const Tensor& dy, const Tensor& x, const Conv2dShape& s,
                                   bool with_bias) {
    if (s.n == 0 || dy.numel() == 0) {
        TensorList zeros{Tensor::zeros(weight_shape(s), dy.dtype(), dy.device())};
        if (with_bias) zeros.push_back(Tensor::zeros({s.k}, dy.dtype(), dy.device()));
        return zeros;
    }
    TensorList out{Tensor::empty(weight_shape(s), dy.dtype(), dy.device())};
    kernels::Array bias{nullptr, dy.dtype(), 0};
    if (with_bias) {
        out.push_back(Tensor::empty({s.k}, dy.dtype(), dy.device()));
        bias = out[1].array();
    }
    const Tensor from = nhwc(dy), input = nhwc(x);
    on(dy.device(), kernels::cpu::conv2d_weight_gradient, kernels::cuda::conv2d_weight_gradient)(
        out[0].array(), bias, from.array(), input.array(), s, current_stream());
    return out;
}

/// dw (K, C / groups, R, S) and, if asked, db (K) in one pass over dy. Linear in dy and in x.
TensorList weight_gradient(const Tensor& dy, const Tensor& x, const Conv2dShape& s,
                           bool with_bias) {
    const Tensor inputs[] = {dy, x};
    return record_outputs(
        weight_gradient_info, inputs, compute_weight_gradient(dy, x, s, with_bias),
        {save(dy), save(x)}, [s](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& ddw = grads[0];
            const Tensor ddb = grads.size() > 1 ? grads[1] : Tensor();
            TensorList out(2);
            if (saved.wants(0)) {
                const Tensor w = ddw.defined() ? ddw
                                               : Tensor::zeros(weight_shape(s), saved[0].dtype(),
                                                               saved[0].device());
                out[0] = convolve(saved[1], w, ddb, s);
            }
            if (saved.wants(1) && ddw.defined()) out[1] = input_gradient(saved[0], ddw, s);
            return out;
        });
}

Tensor convolve(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dShape& s) {
    const Tensor inputs[] = {x, weight, bias};
    return record_many(
        conv2d_info, inputs, compute(x, weight, bias, s),
        {weight.requires_grad() ? save(x) : Save{}, x.requires_grad() ? save(weight) : Save{}},
        [s](std::span<const Tensor> grads, const Saved& saved) {
            const Tensor& dy = grads[0];
            TensorList out(3);
            if (saved.wants(0)) out[0] = input_gradient(dy, saved[1], s);
            if (saved.wants(1)) {
                const TensorList found = weight_gradient(dy, saved[0], s, saved.wants(2));
                out[1] = found[0];
                if (found.size() > 1) out[2] = found[1];
            } else if (saved.wants(2)) {
                out[2] = sum(dy, {0, 2, 3}, false, dy.dtype());
            }
            return out;
        });
}

void check_options(const Conv2dOptions& o) {
    const auto below = [](const std::array<std::int64_t, 2>& values, std::int64_t least) {
        return std::min(values[0], values[1]) < least;
    };
    if (below(o.stride, 1) || below(o.dilation, 1) || below(o.padding, 0) || o.groups < 1) {
        throw Error(ErrorCode::value,
                    "conv2d: stride, dilation and groups start at 1, padding at 0");
    }
}

Conv2dShape shape_of(const Tensor& x, const Tensor& weight, const Conv2dOptions& o) {
    check_rank(conv2d_info, x, 4);
    check_rank(conv2d_info, weight, 4);
    check_options(o);
    check_shapes(conv2d_info,
                 x.size(1) == weight.size(1) * o.groups && weight.size(0) % o.groups == 0, x,
                 weight);
    const Conv2dShape s{x.size(0),      x.size(1),      x.size(2),     x.size(3),   weight.size(0),
                        weight.size(2), weight.size(3), o.stride[0],   o.stride[1], o.padding[0],
                        o.padding[1],   o.dilation[0],  o.dilation[1], o.groups};
    const bool fits = s.h + 2 * s.pad_h >= s.dilation_h * (s.r - 1) + 1 &&
                      s.w + 2 * s.pad_w >= s.dilation_w * (s.s - 1) + 1;
    check_shapes(conv2d_info, fits && s.r > 0 && s.s > 0, x, weight);
    return s;
}

}  // namespace

const OpInfo conv2d_info{"conv2d",
                         CastPolicy::low,
                         "conv2d(x, weight, bias?; stride, padding, dilation, groups)",
                         2,
                         "Matrix products in disguise: fast in 16 bits, summed in fp32.",
                         run_conv2d};

Tensor conv2d(const Tensor& x0, const Tensor& weight0, const Tensor& bias0,
              const Conv2dOptions& options) {
    if (x0.rank() == 3) {
        const Tensor y =
            conv2d(reshape(x0, {1, x0.size(0), x0.size(1), x0.size(2)}), weight0, bias0, options);
        return reshape(y, {y.size(1), y.size(2), y.size(3)});
    }
    const auto [x, weight, bias] = autocast(conv2d_info, x0, weight0, bias0);
    one_type(conv2d_info, {x, weight, bias});
    const Conv2dShape s = shape_of(x, weight, options);
    if (bias.defined())
        check_shapes(conv2d_info, bias.rank() == 1 && bias.size(0) == s.k, bias, weight);
    return convolve(x, weight, bias, s);
}

}  // namespace engine
