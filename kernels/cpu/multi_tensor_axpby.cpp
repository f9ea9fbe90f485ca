#include <atomic>
#include <cassert>

#include "cpu/multi_tensor_double.h"
#include "kernels/multi_tensor.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/multi_tensor_axpby.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/multi_tensor_update-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// out = a * x + b * y on n elements; y may be null. Whether a value of x or y is not finite.
bool axpby_run(const Array& out, float a, const Array& x, float b, const Array& y,
               std::int64_t first, std::int64_t size) {
    const VF av = hn::Set(DF(), a), bv = hn::Set(DF(), b), zero = hn::Zero(DF());
    VF poison = zero;  // 0 * x is NaN where x is not finite
    for (const std::int64_t end = first + size; first < end; first += update_block_size) {
        const std::int64_t n = std::min(update_block_size, end - first);
        Block from(x, first, n), other(y, first, n), to(out, first, n);
        const float *const xs = from.values(), *const ys = other.values();
        float* const outs = to.values();
        for_each_vector(n, [&](std::int64_t i, auto part) HWY_ATTR {
            const VF xv = part.load(xs + i);
            VF sum = hn::Mul(av, xv);
            poison = hn::MulAdd(zero, xv, poison);
            if (ys != nullptr) {
                const VF yv = part.load(ys + i);
                poison = hn::MulAdd(zero, yv, poison);
                sum = hn::MulAdd(bv, yv, sum);
            }
            part.store(sum, outs + i);
        });
        to.write_back();
    }
    return !hn::AllTrue(DF(), hn::Eq(poison, zero));
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(axpby_run);

bool axpby_double(const Array& out, double a, const Array& x, double b, const Array& y,
                  std::int64_t first, std::int64_t n) {
    bool found = false;
    for (std::int64_t i = first; i < first + n; ++i) {
        const double xv = wide::read(x, i), yv = wide::read(y, i);
        found |= !std::isfinite(xv) || !std::isfinite(yv);
        wide::write(out, i, y.data != nullptr ? a * xv + b * yv : a * xv);
    }
    return found;
}

Array part_of(std::span<const ConstArray> list, std::size_t i) {
    if (i >= list.size()) return {};
    return {const_cast<void*>(list[i].data), list[i].dtype, list[i].size};
}

}  // namespace

void multi_tensor_axpby(std::span<const Array> out, double a, std::span<const ConstArray> x,
                        double b, std::span<const ConstArray> y, float* found_inf, Stream) {
    assert(x.size() == out.size() && (y.empty() || y.size() == out.size()));
    const auto count = static_cast<std::int64_t>(out.size());
    const auto size = [&](std::int64_t i) { return out[static_cast<std::size_t>(i)].size; };
    std::atomic<bool> found{false};
    parallel_for(total_size(count, size), loop_grain, [&](std::int64_t begin, std::int64_t end) {
        for_each_piece(
            count, size, begin, end, [&](std::int64_t k, std::int64_t first, std::int64_t n) {
                const auto i = static_cast<std::size_t>(k);
                const Array from = part_of(x, i), other = part_of(y, i);
                const auto wide_type = [](const Array& t) {
                    return t.data != nullptr && t.dtype == DType::f64;
                };
                const bool bad =
                    wide_type(out[i]) || wide_type(from) || wide_type(other)
                        ? axpby_double(out[i], a, from, b, other, first, n)
                        : HWY_DYNAMIC_DISPATCH(axpby_run)(out[i], static_cast<float>(a), from,
                                                          static_cast<float>(b), other, first, n);
                if (bad) found = true;
            });
    });
    if (found) *found_inf = 1.0f;
}

}  // namespace kernels::cpu
#endif
