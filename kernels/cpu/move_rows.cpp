#include <cstddef>
#include <cstring>

#include "cpu/grain.h"
#include "kernels/parallel.h"
#include "kernels/sparse_rows.h"

namespace kernels::cpu {
namespace {

/// Calls move(the row in the whole array or null, the row of the copy, bytes) for each row; null
/// stands for an index outside of the array.
template <typename Move>
void for_each_moved(std::span<const MovedRows> moved, const Move& move) {
    for (const MovedRows& each : moved) {
        const auto bytes = static_cast<std::size_t>(each.bytes);
        auto* const whole = static_cast<std::byte*>(each.whole);
        auto* const copy = static_cast<std::byte*>(each.copy);
        parallel_for(each.n, row_grain(each.bytes / 4), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k) {
                const std::int64_t row = each.index[k];
                const bool there = row >= 0 && row < each.rows;
                move(there ? whole + static_cast<std::size_t>(row) * bytes : nullptr,
                     copy + static_cast<std::size_t>(k) * bytes, bytes);
            }
        });
    }
}

}  // namespace

void fetch_rows(std::span<const MovedRows> moved, Stream) {
    for_each_moved(moved, [](const std::byte* whole, std::byte* copy, std::size_t bytes) {
        if (whole != nullptr)
            std::memcpy(copy, whole, bytes);
        else
            std::memset(copy, 0, bytes);
    });
}

void put_rows(std::span<const MovedRows> moved, Stream) {
    for_each_moved(moved, [](std::byte* whole, const std::byte* copy, std::size_t bytes) {
        if (whole != nullptr) std::memcpy(whole, copy, bytes);
    });
}

}  // namespace kernels::cpu
