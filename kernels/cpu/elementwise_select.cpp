#include <cassert>
#include <type_traits>

#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

/// The type in which two elements are compared.
template <class T>
auto comparable(T v) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        return to_float(v);
    } else if constexpr (std::is_same_v<T, Boolean>) {
        return v.value != 0;
    } else {
        return v;
    }
}

template <class T, class F>
void compare_range(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end,
                   const F& holds) {
    auto* out = static_cast<std::uint8_t*>(y.data);
    const auto* left = static_cast<const T*>(a.data);
    const auto* right = static_cast<const T*>(b.data);
    const std::int64_t step_a = a.size == 1 ? 0 : 1;
    const std::int64_t step_b = b.size == 1 ? 0 : 1;
    for (std::int64_t i = begin; i < end; ++i)
        out[i] = holds(comparable(left[i * step_a]), comparable(right[i * step_b])) ? 1 : 0;
}

/// f(relation) with the relation that op names.
template <class F>
void with_relation(CompareOp op, const F& f) {
    switch (op) {
#define HALFTONE_COMPARE(name, relation) \
    case CompareOp::name:                \
        return f([](auto a, auto b) { return a relation b; });
#include "kernels/elementwise_functions.inc"
    }
}

/// Without a branch: a condition that is as good as random would be predicted wrong half the time.
/// Bits: an unsigned type of the elements' size.
template <class Bits>
void where_range(Array y, ConstArray condition, ConstArray a, ConstArray b, std::int64_t begin,
                 std::int64_t end) {
    auto* out = static_cast<Bits*>(y.data);
    const auto* chosen = static_cast<const std::uint8_t*>(condition.data);
    const auto* left = static_cast<const Bits*>(a.data);
    const auto* right = static_cast<const Bits*>(b.data);
    const std::int64_t step_a = a.size == 1 ? 0 : 1;
    const std::int64_t step_b = b.size == 1 ? 0 : 1;
    for (std::int64_t i = begin; i < end; ++i) {
        const auto mask = static_cast<Bits>(chosen[i] != 0 ? ~Bits{0} : Bits{0});
        out[i] = static_cast<Bits>((left[i * step_a] & mask) | (right[i * step_b] & ~mask));
    }
}

}  // namespace

void compare(Array y, ConstArray a, ConstArray b, CompareOp op, Stream) {
    assert(a.dtype == b.dtype && y.dtype == DType::boolean);
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        with_type(a.dtype, [&](auto type) {
            with_relation(op, [&](const auto& holds) {
                compare_range<decltype(type)>(y, a, b, begin, end, holds);
            });
        });
    });
}

void where(Array y, ConstArray condition, ConstArray a, ConstArray b, Stream) {
    assert(a.dtype == y.dtype && b.dtype == y.dtype && condition.size == y.size);
    parallel_for(y.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        switch (size_of(y.dtype)) {
            case 1:
                return where_range<std::uint8_t>(y, condition, a, b, begin, end);
            case 2:
                return where_range<std::uint16_t>(y, condition, a, b, begin, end);
            case 4:
                return where_range<std::uint32_t>(y, condition, a, b, begin, end);
            default:
                where_range<std::uint64_t>(y, condition, a, b, begin, end);
        }
    });
}

}  // namespace kernels::cpu
