#include "cpu/conv2d_paths.h"

#include <algorithm>
#include <vector>

#include "cpu/gemm_scratch.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/conv2d_depthwise.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/gemm_pack-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// Multiply-adds worth a thread.
constexpr std::int64_t thread_work = std::int64_t{1} << 19;

/// Vectors of channels that one loop over taps or pixels sums.
constexpr int wide_block = 4;

/// One axis of an image that is computed from another.
struct Axis {
    std::int64_t from, to;  // elements
    std::int64_t stride, pad, dilation;
    bool gradient;  // from the convolution's output to its input

    /// The element that a tap of `place` reads; -1 if there is none.
    std::int64_t source(std::int64_t place, std::int64_t tap) const {
        std::int64_t at = place * stride - pad + tap * dilation;
        if (gradient) {
            const std::int64_t strides = place + pad - tap * dilation;
            if (strides < 0 || strides % stride != 0) return -1;
            at = strides / stride;
        }
        return at >= 0 && at < from ? at : -1;
    }
};

Axis rows_of(const Conv2dShape& s, bool gradient) {
    const std::int64_t from = gradient ? s.oh() : s.h, to = gradient ? s.h : s.oh();
    return {from, to, s.stride_h, s.pad_h, s.dilation_h, gradient};
}
Axis columns_of(const Conv2dShape& s, bool gradient) {
    const std::int64_t from = gradient ? s.ow() : s.w, to = gradient ? s.w : s.ow();
    return {from, to, s.stride_w, s.pad_w, s.dilation_w, gradient};
}

/// A pixel that takes part in a sum, and its weights, both for all channels.
template <class S>
struct Tap {
    const S* pixel;
    const float* weights;
};

/// V vectors of channels, from channel c on.
template <int V, class S>
HWY_INLINE void sum_vectors(S* to, const Tap<S>* taps, std::int64_t count, const float* bias,
                            std::int64_t c) {
    const DF d;
    const std::int64_t lanes = lane_count();
    VF sum[V];
    for (int v = 0; v < V; ++v) sum[v] = bias ? hn::LoadU(d, bias + c + v * lanes) : hn::Zero(d);
    for (std::int64_t t = 0; t < count; ++t)
        for (int v = 0; v < V; ++v) {
            const std::int64_t at = c + v * lanes;
            sum[v] =
                hn::MulAdd(load(taps[t].pixel + at), hn::LoadU(d, taps[t].weights + at), sum[v]);
        }
    for (int v = 0; v < V; ++v) store(sum[v], to + c + v * lanes);
}

template <class S>
HWY_INLINE void sum_rest(S* to, const Tap<S>* taps, std::int64_t count, const float* bias,
                         std::int64_t c, std::size_t n) {
    VF sum = bias ? load_part(bias + c, n) : hn::Zero(DF());
    for (std::int64_t t = 0; t < count; ++t)
        sum = hn::MulAdd(load_part(taps[t].pixel + c, n), load_part(taps[t].weights + c, n), sum);
    store_part(sum, to + c, n);
}

/// All channels of one pixel.
template <class S>
void sum_taps(S* to, const Tap<S>* taps, std::int64_t count, const float* bias,
              std::int64_t channels) {
    const std::int64_t lanes = lane_count();
    std::int64_t c = 0;
    for (; c + wide_block * lanes <= channels; c += wide_block * lanes)
        sum_vectors<wide_block>(to, taps, count, bias, c);
    for (; c + lanes <= channels; c += lanes) sum_vectors<1>(to, taps, count, bias, c);
    if (c < channels) sum_rest(to, taps, count, bias, c, static_cast<std::size_t>(channels - c));
}

/// w (C, R, S) as f32, and tap by tap: (R, S, C).
template <class S>
const float* packed_weights(const S* w, const Conv2dShape& s) {
    const std::int64_t taps = s.r * s.s;
    const auto size = static_cast<std::size_t>(taps * s.c);
    float* wide = scratch<float>(Scratch::operand_b, size);
    convert_run(wide, w, taps * s.c);
    float* packed = scratch<float>(Scratch::gemm_b, size);
    for (std::int64_t c = 0; c < s.c; ++c)
        for (std::int64_t t = 0; t < taps; ++t) packed[t * s.c + c] = wide[c * taps + t];
    return packed;
}

/// Every pixel of `to`: y from x, or dx from dy.
template <class S>
void gather(S* to, const S* from, const float* weights, const float* bias, const Conv2dShape& s,
            bool gradient) {
    const Axis rows = rows_of(s, gradient), columns = columns_of(s, gradient);
    const std::int64_t row_work = columns.to * s.c * s.r * s.s;
    parallel_for(s.n * rows.to, thread_work / std::max<std::int64_t>(row_work, 1) + 1,
                 [&](std::int64_t begin, std::int64_t end) {
                     std::vector<Tap<S>> taps(static_cast<std::size_t>(s.r * s.s));
                     for (std::int64_t row = begin; row < end; ++row) {
                         const S* image = from + row / rows.to * rows.from * columns.from * s.c;
                         for (std::int64_t column = 0; column < columns.to; ++column) {
                             std::int64_t count = 0;
                             for (std::int64_t r = 0; r < s.r; ++r) {
                                 const std::int64_t h = rows.source(row % rows.to, r);
                                 if (h < 0) continue;
                                 for (std::int64_t t = 0; t < s.s; ++t) {
                                     const std::int64_t w = columns.source(column, t);
                                     if (w < 0) continue;
                                     taps[static_cast<std::size_t>(count++)] = {
                                         image + (h * columns.from + w) * s.c,
                                         weights + (r * s.s + t) * s.c};
                                 }
                             }
                             sum_taps(to + (row * columns.to + column) * s.c, taps.data(), count,
                                      bias, s.c);
                         }
                     }
                 });
}

template <class S>
void forward(void* y, const void* x, const void* w, const void* bias, const Conv2dShape& s) {
    const float* wide_bias = nullptr;
    if (bias) {
        float* wide = scratch<float>(Scratch::operand_d, static_cast<std::size_t>(s.c));
        convert_run(wide, static_cast<const S*>(bias), s.c);
        wide_bias = wide;
    }
    gather(static_cast<S*>(y), static_cast<const S*>(x),
           packed_weights(static_cast<const S*>(w), s), wide_bias, s, false);
}

template <class S>
void data_gradient(void* dx, const void* dy, const void* w, const Conv2dShape& s) {
    gather(static_cast<S*>(dx), static_cast<const S*>(dy),
           packed_weights(static_cast<const S*>(w), s), nullptr, s, true);
}

/// sum[c] += the products of `count` pixels, of V vectors of channels; x's pixels lie x_step apart.
template <int V, class S>
HWY_INLINE void add_vectors(float* sum, const S* dy, const S* x, std::int64_t count,
                            std::int64_t dy_step, std::int64_t x_step) {
    const DF d;
    const std::int64_t lanes = lane_count();
    VF run[V];
    for (int v = 0; v < V; ++v) run[v] = hn::Zero(d);
    for (std::int64_t i = 0; i < count; ++i)
        for (int v = 0; v < V; ++v)
            run[v] = hn::MulAdd(load(dy + i * dy_step + v * lanes),
                                load(x + i * x_step + v * lanes), run[v]);
    for (int v = 0; v < V; ++v) {
        float* at = sum + v * lanes;
        hn::StoreU(hn::Add(hn::LoadU(d, at), run[v]), d, at);
    }
}

template <class S>
void add_run(float* sum, const S* dy, const S* x, std::int64_t count, std::int64_t dy_step,
             std::int64_t x_step, std::int64_t channels) {
    const std::int64_t lanes = lane_count();
    std::int64_t c = 0;
    for (; c + wide_block * lanes <= channels; c += wide_block * lanes)
        add_vectors<wide_block>(sum + c, dy + c, x + c, count, dy_step, x_step);
    for (; c + lanes <= channels; c += lanes)
        add_vectors<1>(sum + c, dy + c, x + c, count, dy_step, x_step);
    if (c == channels) return;
    const auto rest = static_cast<std::size_t>(channels - c);
    VF run = hn::Zero(DF());
    for (std::int64_t i = 0; i < count; ++i)
        run = hn::MulAdd(load_part(dy + c + i * dy_step, rest), load_part(x + c + i * x_step, rest),
                         run);
    store_part(hn::Add(load_part(sum + c, rest), run), sum + c, rest);
}

/// Sums of weight gradients, (R, S, C): of some images and channels each, so that threads have work
/// however few channels or images there are.
template <class S>
class WeightSums {
public:
    WeightSums(const S* dy, const S* x, const Conv2dShape& shape)
        : dy_(dy),
          x_(x),
          s_(shape),
          parts_(std::clamp<std::int64_t>(shape.n, 1, 16)),
          strips_((shape.c + strip - 1) / strip),
          size_(shape.r * shape.s * shape.c),
          sums_(scratch<float>(Scratch::conv_sums, static_cast<std::size_t>(parts_ * size_))) {}

    void compute() const {
        const std::int64_t work =
            s_.n * s_.oh() * s_.ow() * s_.r * s_.s * std::min(strip, s_.c) / parts_;
        parallel_for(parts_ * strips_, thread_work / std::max<std::int64_t>(work, 1) + 1,
                     [&](std::int64_t begin, std::int64_t end) {
                         for (std::int64_t i = begin; i < end; ++i)
                             sum_part(i / strips_, i % strips_ * strip);
                     });
        for (std::int64_t part = 1; part < parts_; ++part)
            map(sums_, sums_, sums_ + part * size_, size_,
                [](VF a, VF b) HWY_ATTR { return hn::Add(a, b); });
    }

    /// Rounded, in the order of the weights (C, R, S).
    void store_to(S* dw) const {
        const std::int64_t taps = s_.r * s_.s;
        float* ordered = scratch<float>(Scratch::operand_b, static_cast<std::size_t>(size_));
        for (std::int64_t c = 0; c < s_.c; ++c)
            for (std::int64_t t = 0; t < taps; ++t) ordered[c * taps + t] = sums_[t * s_.c + c];
        convert_run(dw, ordered, size_);
    }

private:
    static constexpr std::int64_t strip = 64;  // channels

    void sum_part(std::int64_t part, std::int64_t first) const {
        const std::int64_t channels = std::min(strip, s_.c - first);
        float* sums = sums_ + part * size_ + first;
        for (std::int64_t t = 0; t < s_.r * s_.s; ++t) std::fill_n(sums + t * s_.c, channels, 0.f);
        for (std::int64_t n = part * s_.n / parts_; n < (part + 1) * s_.n / parts_; ++n)
            for (std::int64_t row = 0; row < s_.oh(); ++row) add_row(sums, n, row, first, channels);
    }

    void add_row(float* sums, std::int64_t n, std::int64_t row, std::int64_t first,
                 std::int64_t channels) const {
        const Axis rows = rows_of(s_, false);
        const S* dy = dy_ + (n * s_.oh() + row) * s_.ow() * s_.c + first;
        for (std::int64_t r = 0; r < s_.r; ++r) {
            const std::int64_t h = rows.source(row, r);
            if (h < 0) continue;
            const S* x = x_ + (n * s_.h + h) * s_.w * s_.c + first;
            for (std::int64_t t = 0; t < s_.s; ++t) {
                // Columns whose pixel of x lies in the image.
                const std::int64_t shift = t * s_.dilation_w - s_.pad_w;
                const std::int64_t begin = shift < 0 ? (-shift + s_.stride_w - 1) / s_.stride_w : 0;
                const std::int64_t last = s_.w - 1 - shift;
                const std::int64_t end = last < 0 ? 0 : std::min(s_.ow(), last / s_.stride_w + 1);
                if (begin < end)
                    add_run(sums + (r * s_.s + t) * s_.c, dy + begin * s_.c,
                            x + (begin * s_.stride_w + shift) * s_.c, end - begin, s_.c,
                            s_.stride_w * s_.c, channels);
            }
        }
    }

    const S *dy_, *x_;
    Conv2dShape s_;
    std::int64_t parts_, strips_, size_;
    float* sums_;
};

template <class S>
void weight_gradient(void* dw, const void* dy, const void* x, const Conv2dShape& s) {
    const WeightSums<S> sums(static_cast<const S*>(dy), static_cast<const S*>(x), s);
    sums.compute();
    sums.store_to(static_cast<S*>(dw));
}

void depthwise_forward(DType dtype, void* y, const void* x, const void* w, const void* bias,
                       const Conv2dShape& s) {
    with_vector_type(dtype, [&](auto type) { forward<decltype(type)>(y, x, w, bias, s); });
}
void depthwise_data_gradient(DType dtype, void* dx, const void* dy, const void* w,
                             const Conv2dShape& s) {
    with_vector_type(dtype, [&](auto type) { data_gradient<decltype(type)>(dx, dy, w, s); });
}
void depthwise_weight_gradient(DType dtype, void* dw, const void* dy, const void* x,
                               const Conv2dShape& s) {
    with_vector_type(dtype, [&](auto type) { weight_gradient<decltype(type)>(dw, dy, x, s); });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {

HWY_EXPORT(depthwise_forward);
HWY_EXPORT(depthwise_data_gradient);
HWY_EXPORT(depthwise_weight_gradient);

bool is_depthwise(const Conv2dShape& shape) {
    return shape.groups > 1 && shape.groups == shape.c && shape.groups == shape.k;
}

void conv2d_forward_depthwise(Array y, ConstArray x, ConstArray w, ConstArray bias,
                              const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(depthwise_forward)(y.dtype, y.data, x.data, w.data, bias.data, shape);
}

void conv2d_data_gradient_depthwise(Array dx, ConstArray dy, ConstArray w,
                                    const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(depthwise_data_gradient)(dx.dtype, dx.data, dy.data, w.data, shape);
}

void conv2d_weight_gradient_depthwise(Array dw, ConstArray dy, ConstArray x,
                                      const Conv2dShape& shape) {
    HWY_DYNAMIC_DISPATCH(depthwise_weight_gradient)(dw.dtype, dw.data, dy.data, x.data, shape);
}

}  // namespace kernels::cpu
#endif
