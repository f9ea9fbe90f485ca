#include "kernels/rank_group.h"

#include <algorithm>
#include <type_traits>

#include "cpu/scalar_convert.h"

namespace kernels::cpu {
namespace {

template <class T>
using Wide =
    std::conditional_t<std::is_same_v<T, double>, double,
                       std::conditional_t<std::is_same_v<T, std::int64_t>, std::uint64_t, float>>;

template <class T>
Wide<T> wide(T value) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
        return to_float(value);
    else
        return static_cast<Wide<T>>(value);
}

template <class T>
T stored(Wide<T> value) {
    if constexpr (std::is_same_v<T, Half>)
        return to_half(value);
    else if constexpr (std::is_same_v<T, BFloat16>)
        return to_bfloat16(value);
    else
        return static_cast<T>(value);
}

template <class T>
const T* at(const void* part) {
    return static_cast<const T*>(part);
}

template <class T>
void sum_range(std::span<void* const> outs, std::span<const void* const> parts, std::int64_t begin,
               std::int64_t end) {
    constexpr std::int64_t block = 1024;  // stays in the first-level cache
    Wide<T> sums[block];
    for (std::int64_t first = begin; first < end; first += block) {
        const std::int64_t count = std::min(block, end - first);
        for (std::int64_t i = 0; i < count; ++i) sums[i] = wide(at<T>(parts[0])[first + i]);
        for (std::size_t part = 1; part < parts.size(); ++part) {
            const T* const from = at<T>(parts[part]) + first;
            for (std::int64_t i = 0; i < count; ++i) sums[i] += wide(from[i]);
        }
        for (void* const out : outs) {
            T* const to = static_cast<T*>(out) + first;
            for (std::int64_t i = 0; i < count; ++i) to[i] = stored<T>(sums[i]);
        }
    }
}

}  // namespace

void rank_sum(std::span<void* const> outs, std::span<const void* const> parts, DType dtype,
              std::int64_t begin, std::int64_t end) {
    if (dtype == DType::f64) sum_range<double>(outs, parts, begin, end);
    if (dtype == DType::f32) sum_range<float>(outs, parts, begin, end);
    if (dtype == DType::f16) sum_range<Half>(outs, parts, begin, end);
    if (dtype == DType::bf16) sum_range<BFloat16>(outs, parts, begin, end);
    if (dtype == DType::i64) sum_range<std::int64_t>(outs, parts, begin, end);
}

}  // namespace kernels::cpu
