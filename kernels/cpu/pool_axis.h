#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kernels/pool.h"

namespace kernels::cpu {

/// Positions first, first + step, ... below `last` of one axis of the input.
struct Taps {
    std::int64_t first, last, step;
};

/// One axis of a pooling: which inputs an output sees, and which outputs see an input.
class PoolAxis {
public:
    static PoolAxis fixed(std::int64_t in, std::int64_t out, std::int64_t kernel,
                          std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
        return {in, out, kernel, stride, pad, dilation};
    }
    /// Windows [floor(o in / out), ceil((o + 1) in / out)).
    static PoolAxis adaptive(std::int64_t in, std::int64_t out) { return {in, out, 0, 0, 0, 1}; }

    std::int64_t in() const { return in_; }
    std::int64_t out() const { return out_; }

    Taps taps(std::int64_t o) const {
        if (kernel_ == 0) return {o * in_ / out_, ((o + 1) * in_ + out_ - 1) / out_, 1};
        std::int64_t first = o * stride_ - pad_;
        const std::int64_t last = first + (kernel_ - 1) * dilation_ + 1;
        if (first < 0) first += (-first + dilation_ - 1) / dilation_ * dilation_;
        return {first, std::min(last, in_), dilation_};
    }

    /// Positions of the window of o that count in an average: with `padded` also those in the
    /// padding, but none beyond it.
    std::int64_t count(std::int64_t o, bool padded) const {
        if (kernel_ != 0 && padded) {
            const std::int64_t room = in_ + pad_ - (o * stride_ - pad_);
            return std::min(kernel_, (room + dilation_ - 1) / dilation_);
        }
        const Taps t = taps(o);
        return t.last > t.first ? (t.last - t.first + t.step - 1) / t.step : 0;
    }

    /// The outputs whose window holds the input i.
    Taps covering(std::int64_t i) const {
        if (kernel_ == 0) return {i * out_ / in_, ((i + 1) * out_ + in_ - 1) / in_, 1};
        const std::int64_t reach = i + pad_;
        const std::int64_t behind = reach - (kernel_ - 1) * dilation_;
        std::int64_t first = behind <= 0 ? 0 : (behind + stride_ - 1) / stride_;
        const std::int64_t last = std::min(reach / stride_ + 1, out_);
        if (dilation_ == 1) return {first, last, 1};
        // Only every step-th of these windows has a tap, not a gap, at i.
        const std::int64_t step = dilation_ / std::gcd(dilation_, stride_);
        for (std::int64_t tried = 0; tried < step; ++tried, ++first)
            if ((reach - first * stride_) % dilation_ == 0) return {first, last, step};
        return {0, 0, 1};
    }

private:
    PoolAxis(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
             std::int64_t pad, std::int64_t dilation)
        : in_(in), out_(out), kernel_(kernel), stride_(stride), pad_(pad), dilation_(dilation) {}

    std::int64_t in_, out_, kernel_, stride_, pad_, dilation_;
};

/// Both axes with what the loops need beside them.
struct PoolPlan {
    std::int64_t n, c;
    PoolAxis rows, cols;
    bool count_padding;

    std::int64_t in_image() const { return rows.in() * cols.in() * c; }
    std::int64_t out_image() const { return rows.out() * cols.out() * c; }
    /// Divisor of the average of an output.
    std::int64_t divisor(std::int64_t oh, std::int64_t ow) const {
        return rows.count(oh, count_padding) * cols.count(ow, count_padding);
    }
};

inline PoolPlan fixed_plan(const Pool2dShape& s) {
    return {s.n, s.c, PoolAxis::fixed(s.h, s.oh, s.kernel_h, s.stride_h, s.pad_h, s.dilation_h),
            PoolAxis::fixed(s.w, s.ow, s.kernel_w, s.stride_w, s.pad_w, s.dilation_w),
            s.count_include_pad};
}
inline PoolPlan adaptive_plan(const Pool2dShape& s) {
    return {s.n, s.c, PoolAxis::adaptive(s.h, s.oh), PoolAxis::adaptive(s.w, s.ow), false};
}

}  // namespace kernels::cpu
