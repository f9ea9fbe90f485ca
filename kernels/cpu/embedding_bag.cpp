#include "kernels/embedding_bag.h"

#include <cassert>
#include <limits>

#include "cpu/embedding_bag_rows.h"
#include "cpu/grain.h"
#include "cpu/index_fold.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/embedding_bag.cpp"
#include "hwy/foreach_target.h"
// After foreach_target, which defines the target.
#include "cpu/lane_sums-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kernels::cpu::HWY_NAMESPACE {
namespace {

template <class T>
void sum_bag(const BagArrays<T>& a, const Bags& bags, std::int64_t bag) {
    const std::int64_t begin = bags.begin(bag), end = bags.end(bag);
    a.fetch_ahead(bags, begin, end);
    const VF nan = hn::Set(DF(), std::numeric_limits<float>::quiet_NaN());
    for_each_vector(a.width, [&](std::int64_t c, auto part) HWY_ATTR {
        LaneSums sums;
        std::int64_t terms = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            if (a.index[i] == bags.padding) continue;
            ++terms;
            const T* row = a.row(i);
            const VF value = row == nullptr ? nan : part.load(row + c);
            if (a.weights == nullptr)
                sums.add(value);
            else
                sums.add(hn::Mul(hn::Set(DF(), static_cast<float>(widen(a.weights[i]))), value));
        }
        VF sum = sums.value();
        if (a.mean && terms > 0) sum = hn::Div(sum, hn::Set(DF(), static_cast<float>(terms)));
        part.store(sum, a.y + bag * a.width + c);
    });
}

void sum_bags(Array y, ConstArray table, ConstArray index, ConstArray weights, const Bags& bags,
              std::int64_t width, bool mean, std::int64_t begin, std::int64_t end) {
    with_vector_type(y.dtype, [&]<typename T>(T) {
        const BagArrays<T> a{static_cast<T*>(y.data),
                             static_cast<const T*>(table.data),
                             static_cast<const std::int64_t*>(index.data),
                             static_cast<const T*>(weights.data),
                             table.size / width,
                             width,
                             mean};
        for (std::int64_t bag = begin; bag < end; ++bag) sum_bag(a, bags, bag);
    });
}

}  // namespace
}  // namespace kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kernels::cpu {
namespace {

HWY_EXPORT(sum_bags);

void sum_bag_double(const BagArrays<double>& a, const Bags& bags, std::int64_t bag) {
    for (std::int64_t c = 0; c < a.width; ++c) {
        SumFold<double> sum;
        for (std::int64_t i = bags.begin(bag); i < bags.end(bag); ++i) {
            if (a.index[i] == bags.padding) continue;
            const double* row = a.row(i);
            const double value = row ? row[c] : std::numeric_limits<double>::quiet_NaN();
            sum.add(a.weights ? a.weights[i] * value : value);
        }
        const bool divided = a.mean && sum.count() > 0;
        a.y[bag * a.width + c] = sum.value() / (divided ? static_cast<double>(sum.count()) : 1);
    }
}

}  // namespace

void embedding_bag(Array y, ConstArray table, ConstArray index, ConstArray weights,
                   const Bags& bags, std::int64_t width, bool mean, Stream) {
    assert(table.dtype == y.dtype && is_floating(y.dtype));
    if (y.size == 0) return;
    const std::int64_t each = width * (bags.terms / bags.count + 1);
    parallel_for(bags.count, row_grain(each), [&](std::int64_t begin, std::int64_t end) {
        if (y.dtype != DType::f64) {
            HWY_DYNAMIC_DISPATCH(sum_bags)
            (y, table, index, weights, bags, width, mean, begin, end);
            return;
        }
        const BagArrays<double> a{static_cast<double*>(y.data),
                                  static_cast<const double*>(table.data),
                                  static_cast<const std::int64_t*>(index.data),
                                  static_cast<const double*>(weights.data),
                                  table.size / width,
                                  width,
                                  mean};
        for (std::int64_t bag = begin; bag < end; ++bag) sum_bag_double(a, bags, bag);
    });
}

void bag_numbers(Array y, ConstArray index, const Bags& bags, Stream) {
    auto* bag = static_cast<std::int64_t*>(y.data);
    const auto* from = static_cast<const std::int64_t*>(index.data);
    parallel_for(bags.terms, row_grain(16), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            bag[i] = from[i] == bags.padding ? -1 : bags.bag_of(i);
    });
}

}  // namespace kernels::cpu
#endif
