#include <cassert>
#include <cstddef>
#include <cstring>
#include <limits>

#include "cpu/grain.h"
#include "cpu/index_fold.h"
#include "cpu/prefetch.h"
#include "kernels/embedding_bag.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/embedding_bag_group.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/lane_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

/// The sum of the one row, or NaN where there is none.
template <class T>
void sum_row(T* y, const T* row, std::int64_t width) {
    const VF nan = hn::Set(DF(), std::numeric_limits<float>::quiet_NaN());
    for_each_vector(width, [&](std::int64_t c, auto part) HWY_ATTR {
        LaneSums sum;
        sum.add(row == nullptr ? nan : part.load(row + c));
        part.store(sum.value(), y + c);
    });
}

void sum_group_rows(DType dtype, void* y, const void* row, std::int64_t width) {
    with_vector_type(dtype, [&]<typename T>(T) {
        sum_row(static_cast<T*>(y), static_cast<const T*>(row), width);
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(sum_group_rows);

void sum_row_double(double* y, const double* row, std::int64_t width) {
    for (std::int64_t c = 0; c < width; ++c) {
        SumFold<double> sum;
        sum.add(row == nullptr ? std::numeric_limits<double>::quiet_NaN() : row[c]);
        y[c] = sum.value();
    }
}

/// Bytes of a row, and where vectors lie.
struct GroupRows {
    const BagGroup& group;
    std::size_t bytes;

    std::byte* of(void* y, std::int64_t bag, std::size_t table) const {
        const std::int64_t vector = bag * group.across + group.first;
        return static_cast<std::byte*>(y) + (static_cast<std::size_t>(vector) + table) * bytes;
    }
    /// Row of a table by one of the indices, null for one that is out of range.
    const std::byte* in(ConstArray table, std::int64_t row) const {
        if (row < 0 || row >= table.size / group.width) return nullptr;
        return static_cast<const std::byte*>(table.data) + static_cast<std::size_t>(row) * bytes;
    }
};

}  // namespace

void embedding_bag_group(Array y, std::span<const ConstArray> tables, ConstArray index,
                         const BagGroup& group, Stream) {
    assert(is_floating(y.dtype));
    if (group.bags == 0 || group.width == 0) return;
    const GroupRows rows{group, static_cast<std::size_t>(group.width) * size_of(y.dtype)};
    const auto* const from = static_cast<const std::int64_t*>(index.data);
    const std::int64_t each = group.width * static_cast<std::int64_t>(tables.size());
    // Table by table, as separate calls would: the frequent rows of one stay in the cache.
    parallel_for(group.bags, row_grain(each), [&](std::int64_t begin, std::int64_t end) {
        for (std::size_t t = 0; t < tables.size(); ++t) {
            const std::int64_t* const own = from + static_cast<std::int64_t>(t) * group.bags;
            for (std::int64_t bag = begin; bag < end; ++bag) {
                if (bag + rows_ahead < end)
                    if (const std::byte* p = rows.in(tables[t], own[bag + rows_ahead]))
                        prefetch(p, rows.bytes);
                std::byte* const to = rows.of(y.data, bag, t);
                const std::byte* const row = rows.in(tables[t], own[bag]);
                if (y.dtype == DType::f64)
                    sum_row_double(reinterpret_cast<double*>(to),
                                   reinterpret_cast<const double*>(row), group.width);
                else
                    HWY_DYNAMIC_DISPATCH(sum_group_rows)(y.dtype, to, row, group.width);
            }
        }
    });
}

void split_bag_group(std::span<const Array> rows, ConstArray y, const BagGroup& group, Stream) {
    if (group.bags == 0 || group.width == 0) return;
    const GroupRows vectors{group, static_cast<std::size_t>(group.width) * size_of(y.dtype)};
    const std::int64_t each = group.width * static_cast<std::int64_t>(rows.size());
    parallel_for(group.bags, row_grain(each), [&](std::int64_t begin, std::int64_t end) {
        for (std::size_t t = 0; t < rows.size(); ++t) {
            auto* const to = static_cast<std::byte*>(rows[t].data);
            for (std::int64_t bag = begin; bag < end; ++bag)
                std::memcpy(to + static_cast<std::size_t>(bag) * vectors.bytes,
                            vectors.of(const_cast<void*>(y.data), bag, t), vectors.bytes);
        }
    });
}

}  // namespace kernels::cpu
#endif
