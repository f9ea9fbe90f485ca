#include "cpu/coalesce_slots.h"
#include "cpu/grain.h"
#include "cpu/index_fold.h"
#include "cpu/prefetch.h"
#include "kernels/parallel.h"
#include "kernels/sparse_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/coalesce_rows.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/lane_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void add_up(T* sum, const T* values, const std::int64_t* order, std::int64_t terms,
            std::int64_t width) {
    for_each_vector(width, [&](std::int64_t c, auto part) HWY_ATTR {
        LaneSums sums;
        for (std::int64_t i = 0; i < terms; ++i) sums.add(part.load(values + order[i] * width + c));
        part.store(sums.value(), sum + c);
    });
}

void coalesce_range(Array places, Array sums, const SparseEntries& entries, ConstArray values,
                    std::int64_t width, std::int64_t begin, std::int64_t end) {
    with_vector_type(values.dtype, [&]<typename T>(T) {
        auto* rows = static_cast<T*>(sums.data);
        const auto* from = static_cast<const T*>(values.data);
        coalesce_slots(static_cast<std::int64_t*>(places.data), rows, entries, width, begin, end,
                       [&](std::int64_t k, std::int64_t last) {
                           add_up(rows + k * width, from, entries.order + k, last - k, width);
                       });
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(coalesce_range);

void coalesce_range_double(Array places, Array sums, const SparseEntries& entries,
                           ConstArray values, std::int64_t width, std::int64_t begin,
                           std::int64_t end) {
    auto* rows = static_cast<double*>(sums.data);
    const auto* from = static_cast<const double*>(values.data);
    coalesce_slots(static_cast<std::int64_t*>(places.data), rows, entries, width, begin, end,
                   [&](std::int64_t k, std::int64_t last) {
                       for (std::int64_t c = 0; c < width; ++c) {
                           SumFold<double> sum;
                           for (std::int64_t i = k; i < last; ++i)
                               sum.add(from[entries.order[i] * width + c]);
                           rows[k * width + c] = sum.value();
                       }
                   });
}

}  // namespace

void coalesce_rows(Array places, Array sums, const SparseEntries& entries, ConstArray values,
                   Stream) {
    if (entries.n == 0) return;
    const std::int64_t width = values.size / entries.n;
    parallel_for(entries.n, row_grain(width), [&](std::int64_t begin, std::int64_t end) {
        if (values.dtype == DType::f64)
            coalesce_range_double(places, sums, entries, values, width, begin, end);
        else
            HWY_DYNAMIC_DISPATCH(coalesce_range)
        (places, sums, entries, values, width, begin, end);
    });
}

}  // namespace kernels::cpu
#endif
