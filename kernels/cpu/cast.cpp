#include <cassert>
#include <cstdint>
#include <cstring>

#include "cpu/grain.h"
#include "cpu/scalar_convert.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/cast.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/convert-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

template <class To, class From>
void convert(To* y, const From* x, std::int64_t n) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(DF()));
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) store(load(x + i), y + i);
    if (i < n) {
        const auto rest = static_cast<std::size_t>(n - i);
        store_part(load_part(x + i, rest), y + i, rest);
    }
}

template <class From>
void convert_from(void* y, DType to, const From* x, std::int64_t begin, std::int64_t n) {
    if (to == DType::f32) convert(static_cast<float*>(y) + begin, x + begin, n);
    if (to == DType::f16) convert(static_cast<Half*>(y) + begin, x + begin, n);
    if (to == DType::bf16) convert(static_cast<BFloat16*>(y) + begin, x + begin, n);
}

void convert_range(Array y, ConstArray x, std::int64_t begin, std::int64_t n) {
    if (x.dtype == DType::f32)
        convert_from(y.data, y.dtype, static_cast<const float*>(x.data), begin, n);
    if (x.dtype == DType::f16)
        convert_from(y.data, y.dtype, static_cast<const Half*>(x.data), begin, n);
    if (x.dtype == DType::bf16)
        convert_from(y.data, y.dtype, static_cast<const BFloat16*>(x.data), begin, n);
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(convert_range);

bool has_vector_form(DType dtype) { return is_floating(dtype) && dtype != DType::f64; }

void convert_scalars(Array y, ConstArray x, std::int64_t begin, std::int64_t end) {
    with_type(y.dtype, [&](auto to) {
        with_type(x.dtype, [&](auto from) {
            using To = decltype(to);
            using From = decltype(from);
            auto* out = static_cast<To*>(y.data);
            const auto* in = static_cast<const From*>(x.data);
            for (std::int64_t i = begin; i < end; ++i) out[i] = narrow<To>(widen(in[i]));
        });
    });
}

}  // namespace

void cast(Array y, ConstArray x, Stream) {
    assert(y.size == x.size);
    if (y.dtype == x.dtype) {
        const auto size = static_cast<std::int64_t>(size_of(x.dtype));
        parallel_for(x.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
            std::memmove(static_cast<char*>(y.data) + begin * size,
                         static_cast<const char*>(x.data) + begin * size,
                         static_cast<std::size_t>((end - begin) * size));
        });
        return;
    }
    const bool vector = has_vector_form(x.dtype) && has_vector_form(y.dtype);
    parallel_for(x.size, loop_grain, [&](std::int64_t begin, std::int64_t end) {
        if (vector)
            HWY_DYNAMIC_DISPATCH(convert_range)(y, x, begin, end - begin);
        else
            convert_scalars(y, x, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
