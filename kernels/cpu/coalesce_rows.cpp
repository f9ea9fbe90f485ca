#include <array>
#include <cstddef>
#include <cstring>

#include "cpu/grain.h"
#include "cpu/index_fold.h"
#include "cpu/scalar_convert.h"
#include "kernels/parallel.h"
#include "kernels/sparse_rows.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t block = 64;  // columns that are summed at once

/// The entry in slot k of the order is the first of its place.
bool is_first(const SparseEntries& entries, std::int64_t k) {
    const std::int64_t key = entries.keys[entries.order[k]];
    return key >= 0 && (k == 0 || entries.keys[entries.order[k - 1]] != key);
}

template <class T>
void add_up(T* sums, const T* values, const SparseEntries& entries, std::int64_t width,
            std::int64_t k, std::int64_t end) {
    using W = std::conditional_t<std::is_same_v<T, double>, double, float>;
    for (std::int64_t first = 0; first < width; first += block) {
        const std::int64_t columns = std::min(block, width - first);
        std::array<SumFold<W>, block> folds{};
        for (std::int64_t i = k; i < end; ++i) {
            const T* row = values + entries.order[i] * width + first;
            for (std::int64_t c = 0; c < columns; ++c)
                folds[static_cast<std::size_t>(c)].add(static_cast<W>(widen(row[c])));
        }
        for (std::int64_t c = 0; c < columns; ++c)
            sums[k * width + first + c] =
                narrow<T>(static_cast<double>(folds[static_cast<std::size_t>(c)].value()));
    }
}

}  // namespace

void coalesce_rows(Array places, Array sums, const SparseEntries& entries, ConstArray values,
                   Stream) {
    if (entries.n == 0) return;
    const std::int64_t width = values.size / entries.n, n = entries.n;
    auto* out = static_cast<std::int64_t*>(places.data);
    with_type(values.dtype, [&](auto type) {
        using T = decltype(type);
        if constexpr (std::is_same_v<decltype(widen(T{})), double>) {
            auto* rows = static_cast<T*>(sums.data);
            parallel_for(n, row_grain(width), [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t k = begin; k < end; ++k) {
                    const bool first = is_first(entries, k);
                    const std::int64_t entry = entries.order[k];
                    for (std::int64_t d = 0; d < entries.dims; ++d)
                        out[d * n + k] = first ? entries.places[d * n + entry] : -1;
                    std::int64_t last = k + 1;
                    while (first && last < n &&
                           entries.keys[entries.order[last]] == entries.keys[entry])
                        ++last;
                    if (first)
                        add_up(rows, static_cast<const T*>(values.data), entries, width, k, last);
                    else
                        std::fill_n(rows + k * width, width, T{});
                }
            });
        }
    });
}

void put_rows(Array y, ConstArray x, ConstArray index, std::int64_t width, Stream) {
    const std::size_t bytes = static_cast<std::size_t>(width) * size_of(y.dtype);
    const std::int64_t rows = width == 0 ? 0 : y.size / width;
    const auto* row = static_cast<const std::int64_t*>(index.data);
    parallel_for(index.size, row_grain(width), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
            if (row[k] < 0 || row[k] >= rows) continue;
            std::memcpy(static_cast<std::byte*>(y.data) + static_cast<std::size_t>(row[k]) * bytes,
                        static_cast<const std::byte*>(x.data) + static_cast<std::size_t>(k) * bytes,
                        bytes);
        }
    });
}

}  // namespace kernels::cpu
