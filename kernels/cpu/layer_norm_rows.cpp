#include "cpu/layer_norm_rows.h"

#include <algorithm>
#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/layer_norm_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/formula-inl.h"
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

#define HALFTONE_FORMULA HWY_INLINE
#include "cpu/norm_formulas.inc"
#undef HALFTONE_FORMULA

struct TwoSums {
    float first, second;
};

/// Two sums over n elements: f(i, part, first, second) adds a vector's terms. Lanes collect at most
/// 128 terms before they are added to the totals, so that long rows stay precise.
template <class F>
HWY_INLINE TwoSums two_sums(std::int64_t n, const F& f) {
    const DF d;
    const std::int64_t lanes = lane_count();
    VF all_first = hn::Zero(d), all_second = hn::Zero(d);
    std::int64_t i = 0;
    while (i + lanes <= n) {
        const std::int64_t stop = std::min(n - lanes, i + 127 * lanes);
        VF first = hn::Zero(d), second = hn::Zero(d);
        for (; i <= stop; i += lanes) f(i, Whole(), first, second);
        all_first = hn::Add(all_first, first);
        all_second = hn::Add(all_second, second);
    }
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        VF first = hn::Zero(d), second = hn::Zero(d);
        f(i, Part{rest}, first, second);
        all_first = hn::Add(all_first, hn::IfThenElseZero(hn::FirstN(d, rest), first));
        all_second = hn::Add(all_second, hn::IfThenElseZero(hn::FirstN(d, rest), second));
    }
    return {hn::GetLane(hn::SumOfLanes(d, all_first)), hn::GetLane(hn::SumOfLanes(d, all_second))};
}

struct Moments {
    float mean, rstd;
};

template <class T>
HWY_INLINE Moments moments_of(const T* x, std::int64_t n, bool centred, double eps) {
    const auto count = static_cast<double>(n);
    float guess = 0;
    if (centred) {
        const TwoSums sums = two_sums(n, [&](std::int64_t i, auto part, VF& first, VF&) HWY_ATTR {
            first = hn::Add(first, part.load(x + i));
        });
        guess = static_cast<float>(static_cast<double>(sums.first) / count);
    }
    const VF middle = hn::Set(DF(), guess);
    const TwoSums sums =
        two_sums(n, [&](std::int64_t i, auto part, VF& first, VF& second) HWY_ATTR {
            const VF apart = hn::Sub(part.load(x + i), middle);
            first = hn::Add(first, apart);
            second = hn::MulAdd(apart, apart, second);
        });
    // The error of the mean after the first pass.
    const double left = centred ? static_cast<double>(sums.first) / count : 0.0;
    const double var = static_cast<double>(sums.second) / count - left * left;
    // An infinite mean stays one: what is left of it is inf - inf.
    const double mean = std::isfinite(guess) ? static_cast<double>(guess) + left : guess;
    return {static_cast<float>(mean), static_cast<float>(1 / std::sqrt((var < 0 ? 0 : var) + eps))};
}

void forward_rows(Array y, ConstArray x, const LayerNormRowsF32& with, std::int64_t begin,
                  std::int64_t end) {
    const std::int64_t cols = with.cols;
    with_vector_type(x.dtype, [&](auto from) {
        with_vector_type(y.dtype, [&](auto to) {
            for (std::int64_t row = begin; row < end; ++row) {
                const auto* in = static_cast<const decltype(from)*>(x.data) + row * cols;
                auto* out = static_cast<decltype(to)*>(y.data) + row * cols;
                const Moments moments = moments_of(in, cols, with.mean != nullptr, with.eps);
                if (with.mean != nullptr) with.mean[row] = moments.mean;
                with.rstd[row] = moments.rstd;
                const VF middle = hn::Set(DF(), moments.mean);
                const VF scale = hn::Set(DF(), moments.rstd);
                for_each_vector(cols, [&](std::int64_t c, auto part) HWY_ATTR {
                    VF value = layer_normalized(part.load(in + c), middle, scale);
                    if (with.weight != nullptr) value = hn::Mul(value, part.load(with.weight + c));
                    if (with.bias != nullptr) value = hn::Add(value, part.load(with.bias + c));
                    part.store(value, out + c);
                });
            }
        });
    });
}

/// One row of dx; where `sums` is not null its terms are added to (cols) sums of dy xhat and (cols)
/// of dy.
template <class X, class Y>
HWY_INLINE void gradient_row(X* dx, float* sums, const Y* dy, const X* x,
                             const LayerNormRowsF32& with, std::int64_t row) {
    const std::int64_t cols = with.cols;
    const VF middle = hn::Set(DF(), with.mean != nullptr ? with.mean[row] : 0.0f);
    const VF scale = hn::Set(DF(), with.rstd[row]);
    const auto xhat = [&](std::int64_t c, auto part)
                          HWY_ATTR { return layer_normalized(part.load(x + c), middle, scale); };
    const auto weighted = [&](std::int64_t c, auto part, VF g) HWY_ATTR {
        return with.weight != nullptr ? hn::Mul(g, part.load(with.weight + c)) : g;
    };
    const TwoSums of =
        two_sums(cols, [&](std::int64_t c, auto part, VF& first, VF& second) HWY_ATTR {
            const VF g = weighted(c, part, part.load(dy + c));
            first = hn::Add(first, g);
            second = hn::MulAdd(g, xhat(c, part), second);
        });
    const auto count = static_cast<float>(cols);
    const VF shift = hn::Set(DF(), with.mean != nullptr ? of.first / count : 0.0f);
    const VF slope = hn::Set(DF(), of.second / count);
    for_each_vector(cols, [&](std::int64_t c, auto part) HWY_ATTR {
        const VF above = part.load(dy + c), normal = xhat(c, part);
        const VF g = weighted(c, part, above);
        if (sums != nullptr) {
            part.store(hn::MulAdd(above, normal, part.load(sums + c)), sums + c);
            part.store(hn::Add(above, part.load(sums + cols + c)), sums + cols + c);
        }
        part.store(layer_norm_gradient(g, normal, scale, shift, slope), dx + c);
    });
}

void gradient_rows_of(Array dx, double* sums, ConstArray dy, ConstArray x,
                      const LayerNormRowsF32& with, std::int64_t begin, std::int64_t end) {
    const std::int64_t cols = with.cols;
    thread_local std::vector<float> memory;
    if (sums != nullptr) memory.resize(static_cast<std::size_t>(2 * cols));
    float* few = sums != nullptr ? memory.data() : nullptr;
    with_vector_type(x.dtype, [&](auto from) {
        with_vector_type(dy.dtype, [&](auto above) {
            using X = decltype(from);
            using Y = decltype(above);
            for (std::int64_t first = begin; first < end; first += layer_norm_block) {
                if (few != nullptr) std::fill_n(few, 2 * cols, 0.0f);
                for (std::int64_t row = first; row < std::min(end, first + layer_norm_block); ++row)
                    gradient_row(static_cast<X*>(dx.data) + row * cols, few,
                                 static_cast<const Y*>(dy.data) + row * cols,
                                 static_cast<const X*>(x.data) + row * cols, with, row);
                for (std::int64_t i = 0; few != nullptr && i < 2 * cols; ++i)
                    sums[i] += static_cast<double>(few[i]);
            }
        });
    });
}

void add_parts(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end) {
    with_vector_type(y.dtype, [&](auto to) {
        with_vector_type(a.dtype, [&](auto from) {
            auto* sum = static_cast<decltype(to)*>(y.data) + begin;
            const auto* left = static_cast<const decltype(from)*>(a.data) + begin;
            const auto* right = static_cast<const decltype(to)*>(b.data) + begin;
            for_each_vector(end - begin, [&](std::int64_t i, auto part) HWY_ATTR {
                part.store(hn::Add(part.load(left + i), part.load(right + i)), sum + i);
            });
        });
    });
}

void convert_part(Array y, ConstArray x, std::int64_t begin, std::int64_t end) {
    with_vector_type(y.dtype, [&](auto to) {
        with_vector_type(x.dtype, [&](auto from) {
            map(static_cast<decltype(to)*>(y.data) + begin,
                static_cast<const decltype(from)*>(x.data) + begin, end - begin,
                [](VF v) HWY_ATTR { return v; });
        });
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {
HWY_EXPORT(forward_rows);
HWY_EXPORT(gradient_rows_of);
HWY_EXPORT(add_parts);
HWY_EXPORT(convert_part);
}  // namespace

void layer_norm_rows(Array y, ConstArray x, const LayerNormRowsF32& with, std::int64_t begin,
                     std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(forward_rows)(y, x, with, begin, end);
}

void layer_norm_gradient_rows(Array dx, double* sums, ConstArray dy, ConstArray x,
                              const LayerNormRowsF32& with, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(gradient_rows_of)(dx, sums, dy, x, with, begin, end);
}

void add_range(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(add_parts)(y, a, b, begin, end);
}

void convert_range(Array y, ConstArray x, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(convert_part)(y, x, begin, end);
}

}  // namespace kernels::cpu
#endif
