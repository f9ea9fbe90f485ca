#include <atomic>
#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include "cpu/grain.h"
#include "cpu/multi_tensor_pieces.h"
#include "cpu/scalar_convert.h"
#include "kernels/multi_tensor.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/multi_tensor_gradient_check.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

#ifndef KERNELS_CPU_MULTI_TENSOR_GRADIENT_CHECK_ONCE
#define KERNELS_CPU_MULTI_TENSOR_GRADIENT_CHECK_ONCE
namespace kernels::cpu {
namespace {

/// Bounds of f16 as bits of f32 magnitudes, which increase with the value. Above the first a
/// magnitude does not flush to 0 (a tie at 2^-25 rounds to the even 0); from the second on it
/// rounds to a normal value (the tie 2^-14 - 2^-25 does); from the third on to infinity.
constexpr std::int32_t last_flushed = 0x33000000;
constexpr std::int32_t first_normal = 0x387fe000;
constexpr std::int32_t first_infinite = 0x477ff000;
constexpr std::uint32_t infinity_bits = 0x7f800000;

/// Counters of magnitudes, for one task.
struct Tally {
    std::int64_t above_zero = 0, above_flushed = 0, normal = 0, infinite = 0;
    std::uint32_t largest = 0, largest_f16 = 0;
    double sum_squares = 0;

    void add(const Tally& other) {
        above_zero += other.above_zero;
        above_flushed += other.above_flushed;
        normal += other.normal;
        infinite += other.infinite;
        largest = std::max(largest, other.largest);
        largest_f16 = std::max(largest_f16, other.largest_f16);
        sum_squares += other.sum_squares;
    }
};

}  // namespace
}  // namespace kernels::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;
using VI = hn::Vec<DI>;

/// Sum of squares in double, where the square of an f32 neither overflows nor vanishes. Two sums,
/// so that one addition need not wait for the other.
struct Squares {
    VD low, high;

    HWY_INLINE void add(VF v) {
#if HWY_TARGET == HWY_SCALAR
        const VD d = hn::PromoteTo(DD(), v);
        low = hn::MulAdd(d, d, low);
#else
        const hn::Half<DF> half;
        const VD below = hn::PromoteTo(DD(), hn::LowerHalf(half, v));
        const VD above = hn::PromoteTo(DD(), hn::UpperHalf(half, v));
        low = hn::MulAdd(below, below, low);
        high = hn::MulAdd(above, above, high);
#endif
    }
};

/// Tally of at most piece_size elements: lane counters of 32 bits cannot overflow.
struct VectorTally {
    VI above_zero, above_flushed, normal, infinite, largest, largest_f16;
    Squares squares;

    VectorTally()  // spelled out: an implicit one would be compiled for the baseline
        : above_zero(hn::Zero(DI())),
          above_flushed(hn::Zero(DI())),
          normal(hn::Zero(DI())),
          infinite(hn::Zero(DI())),
          largest(hn::Zero(DI())),
          largest_f16(hn::Zero(DI())),
          squares{hn::Zero(DD()), hn::Zero(DD())} {}

    HWY_INLINE void add(VF v) {
        const DI i32;
        const VI one = hn::Set(i32, 1);
        const VI bits = hn::And(hn::BitCast(i32, v), hn::Set(i32, 0x7fffffff));
        const auto count = [&](VI& counter, std::int32_t bound) HWY_ATTR {
            counter = hn::Add(counter, hn::IfThenElseZero(hn::Gt(bits, hn::Set(i32, bound)), one));
        };
        count(above_zero, 0);
        count(above_flushed, last_flushed);
        count(normal, first_normal - 1);
        count(infinite, first_infinite - 1);
        largest = hn::Max(largest, bits);
        squares.add(v);
    }

    Tally total() const {
        const auto sum = [](VI counter) HWY_ATTR {
            return static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(DI(), counter)));
        };
        Tally t;
        t.above_zero = sum(above_zero);
        t.above_flushed = sum(above_flushed);
        t.normal = sum(normal);
        t.infinite = sum(infinite);
        const auto max = [](VI lanes) HWY_ATTR {
            return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(DI(), lanes)));
        };
        t.largest = max(largest);
        t.largest_f16 = max(largest_f16);
        t.sum_squares = hn::GetLane(hn::SumOfLanes(DD(), hn::Add(squares.low, squares.high)));
        return t;
    }
};

template <class T>
void tally_run(VectorTally& tally, const T* x, std::int64_t n) {
    const std::int64_t lanes = lane_count();
    VectorTally here = tally;
    here.largest = hn::Zero(DI());  // of this run
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) here.add(load(x + i));
    if (i < n) here.add(load_part(x + i, static_cast<std::size_t>(n - i)));
    if constexpr (std::is_same_v<T, Half>)
        here.largest_f16 = hn::Max(here.largest_f16, here.largest);
    here.largest = hn::Max(here.largest, tally.largest);
    tally = here;
}

Tally tally_range(std::span<const ConstArray> grads, std::int64_t begin, std::int64_t end) {
    VectorTally tally;
    for_each_piece(
        static_cast<std::int64_t>(grads.size()),
        [&](std::int64_t i) { return grads[static_cast<std::size_t>(i)].size; }, begin, end,
        [&](std::int64_t i, std::int64_t first, std::int64_t n) {
            const ConstArray& grad = grads[static_cast<std::size_t>(i)];
            with_vector_type(grad.dtype, [&](auto type) {
                tally_run(tally, static_cast<const decltype(type)*>(grad.data) + first, n);
            });
        });
    return tally.total();
}

template <class T>
bool scale_in_place(T* x, std::int64_t n, float factor) {
    const DI i32;
    const VF scale = hn::Set(DF(), factor);
    const VI mask = hn::Set(i32, 0x7fffffff);
    const std::int64_t lanes = lane_count();
    VI largest = hn::Zero(i32);
    const auto seen = [&](VF v) HWY_ATTR {
        largest = hn::Max(largest, hn::And(hn::BitCast(i32, v), mask));
        return v;
    };
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(hn::Mul(seen(load(x + i)), scale), x + i);
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        store_part(hn::Mul(seen(load_part(x + i, rest)), scale), x + i, rest);
    }
    return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(i32, largest))) >= infinity_bits;
}

/// Whether a value was not finite.
bool unscale_range(const Array& grad, std::int64_t first, std::int64_t n, float factor) {
    bool found = false;
    with_vector_type(grad.dtype, [&](auto type) {
        found = scale_in_place(static_cast<decltype(type)*>(grad.data) + first, n, factor);
    });
    return found;
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(tally_range);
HWY_EXPORT(unscale_range);

void tally_double(Tally& tally, const double* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const double magnitude = std::fabs(x[i]);
        // Rounding to odd keeps a value on its side of every bound and away from 0.
        const auto bits = std::bit_cast<std::uint32_t>(round_to_odd(magnitude));
        tally.above_zero += bits > 0;
        tally.above_flushed += bits > static_cast<std::uint32_t>(last_flushed);
        tally.normal += bits >= static_cast<std::uint32_t>(first_normal);
        tally.infinite += bits >= static_cast<std::uint32_t>(first_infinite);
        const auto nearest = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
        tally.largest =
            std::max(tally.largest,
                     std::isfinite(magnitude) ? std::min(nearest, infinity_bits - 1) : nearest);
        tally.sum_squares += magnitude * magnitude;
    }
}

Tally tally_piece(std::span<const ConstArray> grads, std::int64_t begin, std::int64_t end) {
    Tally tally = HWY_DYNAMIC_DISPATCH(tally_range)(grads, begin, end);
    for_each_piece(
        static_cast<std::int64_t>(grads.size()),
        [&](std::int64_t i) { return grads[static_cast<std::size_t>(i)].size; }, begin, end,
        [&](std::int64_t i, std::int64_t first, std::int64_t n) {
            const ConstArray& grad = grads[static_cast<std::size_t>(i)];
            if (grad.dtype == DType::f64)
                tally_double(tally, static_cast<const double*>(grad.data) + first, n);
        });
    return tally;
}

GradientStatistics to_statistics(const Tally& t, std::int64_t total) {
    GradientStatistics j{};
    j.found_inf = t.largest >= infinity_bits ? 1.0f : 0.0f;
    j.abs_max = std::bit_cast<float>(t.largest);
    j.sum_squares = t.sum_squares;
    j.nonzero = t.above_zero;
    j.to_zero = t.above_zero - t.above_flushed;
    j.subnormal = t.above_flushed - t.normal;
    j.overflow = t.infinite;
    j.total = total;
    j.f16_abs_max = std::bit_cast<float>(t.largest_f16);
    return j;
}

bool unscale_double(const Array& grad, std::int64_t first, std::int64_t n, float factor) {
    double* x = static_cast<double*>(grad.data) + first;
    bool found = false;
    for (std::int64_t i = 0; i < n; ++i) {
        found |= !std::isfinite(x[i]);
        if (factor != 1.0f) x[i] *= static_cast<double>(factor);
    }
    return found;
}

}  // namespace

void multi_tensor_gradient_check(GradientStatistics* gradient_statistics,
                                 std::span<const ConstArray> grads, Stream) {
    const std::int64_t total =
        total_size(static_cast<std::int64_t>(grads.size()),
                   [&](std::int64_t i) { return grads[static_cast<std::size_t>(i)].size; });
    const std::int64_t pieces = (total + piece_size - 1) / piece_size;
    if (pieces <= 1) {
        *gradient_statistics = to_statistics(tally_piece(grads, 0, total), total);
        return;
    }
    std::vector<Tally> tallies(static_cast<std::size_t>(pieces));
    parallel_for(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k)
            tallies[static_cast<std::size_t>(k)] =
                tally_piece(grads, k * piece_size, std::min(total, (k + 1) * piece_size));
    });
    Tally all;
    for (const Tally& tally : tallies) all.add(tally);
    *gradient_statistics = to_statistics(all, total);
}

void multi_tensor_unscale(std::span<const Array> grads, const float* factor, float* found_inf,
                          Stream stream) {
    const float inv_scale = *factor;
    if (inv_scale == 1.0f) {  // a product with 1 would still make signalling NaN quiet
        std::vector<ConstArray> views(grads.begin(), grads.end());
        GradientStatistics gradient_statistics;
        multi_tensor_gradient_check(&gradient_statistics, views, stream);
        if (gradient_statistics.found_inf != 0) *found_inf = 1.0f;
        return;
    }
    const auto count = static_cast<std::int64_t>(grads.size());
    const auto size = [&](std::int64_t i) { return grads[static_cast<std::size_t>(i)].size; };
    std::atomic<bool> found{false};
    parallel_for(total_size(count, size), loop_grain, [&](std::int64_t begin, std::int64_t end) {
        for_each_piece(count, size, begin, end,
                       [&](std::int64_t i, std::int64_t first, std::int64_t n) {
                           const Array& grad = grads[static_cast<std::size_t>(i)];
                           const bool here =
                               grad.dtype == DType::f64
                                   ? unscale_double(grad, first, n, inv_scale)
                                   : HWY_DYNAMIC_DISPATCH(unscale_range)(grad, first, n, inv_scale);
                           if (here) found = true;
                       });
    });
    if (found) *found_inf = 1.0f;
}

}  // namespace kernels::cpu
#endif
