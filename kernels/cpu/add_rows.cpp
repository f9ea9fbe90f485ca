#include "cpu/add_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/add_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

void add(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end) {
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

void convert(Array y, ConstArray x, std::int64_t begin, std::int64_t end) {
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
HWY_EXPORT(add);
HWY_EXPORT(convert);
}  // namespace

void add_range(Array y, ConstArray a, ConstArray b, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(add)(y, a, b, begin, end);
}

void convert_range(Array y, ConstArray x, std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(convert)(y, x, begin, end);
}

}  // namespace kernels::cpu
#endif
