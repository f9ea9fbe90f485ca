#include "kernels/embedding_bag.h"

#include <array>
#include <limits>

#include "cpu/grain.h"
#include "cpu/index_fold.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t block = 64;  // columns that are summed at once

template <class T>
struct BagSum {
    using W = std::conditional_t<std::is_same_v<T, double>, double, float>;

    T* y;
    const T* table;
    const std::int64_t* index;
    const T* weights;
    std::int64_t rows, width;
    bool mean;

    /// Columns from `first` on, a block at most.
    void sum(const Bags& bags, std::int64_t bag, std::int64_t first) const {
        const std::int64_t columns = std::min(block, width - first);
        std::array<SumFold<W>, block> sums{};
        std::int64_t terms = 0;
        for (std::int64_t i = bags.begin(bag); i < bags.end(bag); ++i) {
            if (index[i] == bags.padding) continue;
            ++terms;
            const W weight = weights == nullptr ? W{1} : static_cast<W>(widen(weights[i]));
            const bool inside = index[i] >= 0 && index[i] < rows;
            const T* row = table + (inside ? index[i] * width + first : 0);
            for (std::int64_t c = 0; c < columns; ++c)
                sums[static_cast<std::size_t>(c)].add(inside
                                                          ? weight * static_cast<W>(widen(row[c]))
                                                          : std::numeric_limits<W>::quiet_NaN());
        }
        const W divisor = mean && terms > 0 ? static_cast<W>(terms) : W{1};
        for (std::int64_t c = 0; c < columns; ++c)
            y[bag * width + first + c] =
                narrow<T>(static_cast<double>(sums[static_cast<std::size_t>(c)].value() / divisor));
    }
};

}  // namespace

void embedding_bag(Array y, ConstArray table, ConstArray index, ConstArray weights,
                   const Bags& bags, std::int64_t width, bool mean, Stream) {
    if (y.size == 0) return;
    with_type(y.dtype, [&](auto type) {
        using T = decltype(type);
        if constexpr (std::is_same_v<decltype(widen(T{})), double>) {
            const BagSum<T> sum{static_cast<T*>(y.data),
                                static_cast<const T*>(table.data),
                                static_cast<const std::int64_t*>(index.data),
                                static_cast<const T*>(weights.data),
                                table.size / width,
                                width,
                                mean};
            const std::int64_t each = width * (bags.terms / bags.count + 1);
            parallel_for(bags.count, row_grain(each), [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t bag = begin; bag < end; ++bag)
                    for (std::int64_t c = 0; c < width; c += block) sum.sum(bags, bag, c);
            });
        }
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
