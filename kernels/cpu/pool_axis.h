#pragma once

#include <cstdint>
#include <numeric>

#include "kernels/host_device.h"
#include "kernels/pool.h"

namespace kernels::cpu {

/// Positions first, first + step, ... below `last` of one axis of the input.
template <class I>
struct BasicTaps {
    I first, last, step;
};

/// One axis of a pooling: which inputs an output covers, and which outputs cover an input. I: the
/// index type. Shared by the twins.
template <class I>
class BasicPoolAxis {
public:
    using Taps = BasicTaps<I>;

    HALFTONE_HOST_DEVICE static BasicPoolAxis fixed(I in, I out, I kernel, I stride, I pad,
                                                    I dilation) {
        return {in, out, kernel, stride, pad, dilation};
    }
    /// Windows [floor(o in / out), ceil((o + 1) in / out)).
    HALFTONE_HOST_DEVICE static BasicPoolAxis adaptive(I in, I out) {
        return {in, out, 0, 0, 0, 1};
    }

    HALFTONE_HOST_DEVICE I in() const { return in_; }
    HALFTONE_HOST_DEVICE I out() const { return out_; }

    HALFTONE_HOST_DEVICE Taps taps(I o) const {
        if (kernel_ == 0) return {share(o, in_, out_, 0), share(o + 1, in_, out_, out_ - 1), 1};
        I first = o * stride_ - pad_;
        const I last = first + (kernel_ - 1) * dilation_ + 1;
        if (first < 0) first += (-first + dilation_ - 1) / dilation_ * dilation_;
        return {first, last < in_ ? last : in_, dilation_};
    }

    /// Positions of the window of o that count in an average: with `padded` also those in the
    /// padding, but none beyond it.
    HALFTONE_HOST_DEVICE I count(I o, bool padded) const {
        if (kernel_ != 0 && padded) {
            const I room = in_ + pad_ - (o * stride_ - pad_);
            const I fitting = (room + dilation_ - 1) / dilation_;
            return fitting < kernel_ ? fitting : kernel_;
        }
        const Taps t = taps(o);
        return t.last > t.first ? (t.last - t.first + t.step - 1) / t.step : 0;
    }

    /// The outputs whose window holds the input i.
    HALFTONE_HOST_DEVICE Taps covering(I i) const {
        if (kernel_ == 0) return {share(i, out_, in_, 0), share(i + 1, out_, in_, in_ - 1), 1};
        const I reach = i + pad_;
        const I behind = reach - (kernel_ - 1) * dilation_;
        I first = behind <= 0 ? 0 : (behind + stride_ - 1) / stride_;
        const I last = reach / stride_ + 1 < out_ ? reach / stride_ + 1 : out_;
        if (dilation_ == 1) return {first, last, 1};
        // Only every step-th of these windows has a tap, not a gap, at i.
        const I step = dilation_ / std::gcd(dilation_, stride_);
        for (I tried = 0; tried < step; ++tried, ++first)
            if ((reach - first * stride_) % dilation_ == 0) return {first, last, step};
        return {0, 0, 1};
    }

private:
    HALFTONE_HOST_DEVICE BasicPoolAxis(I in, I out, I kernel, I stride, I pad, I dilation)
        : in_(in), out_(out), kernel_(kernel), stride_(stride), pad_(pad), dilation_(dilation) {}

    /// (i * a + more) / b, whose product may leave I.
    HALFTONE_HOST_DEVICE static I share(I i, I a, I b, I more) {
        return static_cast<I>((static_cast<std::int64_t>(i) * a + more) / b);
    }

    I in_, out_, kernel_, stride_, pad_, dilation_;
};
using PoolAxis = BasicPoolAxis<std::int64_t>;
using Taps = PoolAxis::Taps;

/// Both axes with what the loops need beside them.
struct PoolPlan {
    std::int64_t n, c;
    PoolAxis rows, cols;
    bool count_padding;
    std::int64_t given_divisor = 0;  // if not 0

    std::int64_t in_image() const { return rows.in() * cols.in() * c; }
    std::int64_t out_image() const { return rows.out() * cols.out() * c; }
    /// Divisor of the average of an output.
    std::int64_t divisor(std::int64_t oh, std::int64_t ow) const {
        if (given_divisor != 0) return given_divisor;
        return rows.count(oh, count_padding) * cols.count(ow, count_padding);
    }
};

inline PoolPlan fixed_plan(const Pool2dShape& s) {
    return {s.n,
            s.c,
            PoolAxis::fixed(s.h, s.oh, s.kernel_h, s.stride_h, s.pad_h, s.dilation_h),
            PoolAxis::fixed(s.w, s.ow, s.kernel_w, s.stride_w, s.pad_w, s.dilation_w),
            s.count_include_pad,
            s.divisor};
}
inline PoolPlan adaptive_plan(const Pool2dShape& s) {
    return {s.n, s.c, PoolAxis::adaptive(s.h, s.oh), PoolAxis::adaptive(s.w, s.ow), false};
}
inline PoolPlan max_plan(const Pool2dShape& s) {
    return s.adaptive ? adaptive_plan(s) : fixed_plan(s);
}

}  // namespace kernels::cpu
