#include "cuda/pack.cuh"
#include "cuda/table_list.cuh"
#include "kernels/sparse_rows.h"

namespace kernels::cuda {
namespace {

constexpr std::size_t max_moved = 64;  ///< of one launch

struct MovedList {
    MovedRows at[max_moved];
};

/// `bytes` neighbours of a row by each thread, from the whole array or back to it.
template <int bytes, bool back>
__global__ void move_rows_kernel(MovedList list) {
    const MovedRows moved = list.at[blockIdx.y];
    for_each_row_part(moved.n, moved.bytes / bytes, [&](std::int64_t k, std::int64_t part) {
        const std::int64_t row = moved.index[k];
        const bool there = row >= 0 && row < moved.rows;
        auto* const copy = static_cast<std::uint8_t*>(moved.copy) + k * moved.bytes + part * bytes;
        auto* const whole =
            static_cast<std::uint8_t*>(moved.whole) + row * moved.bytes + part * bytes;
        if constexpr (back) {
            if (there) store_pack(whole, load_pack<bytes>(copy));
        } else {
            store_pack(copy, there ? load_pack<bytes>(whole) : Pack<std::uint8_t, bytes>{});
        }
    });
}

template <bool back>
void move_rows(const char* name, std::span<const MovedRows> moved, Stream stream) {
    for_each_part_of<max_moved>(moved, [&](std::size_t, auto part) {
        constexpr int wide = 16, least = 2;
        MovedList list{};
        std::int64_t rows = 0, bytes = 0;
        bool packed = true;
        for (std::size_t i = 0; i < part.size(); ++i) {
            const MovedRows& each = part[i];
            list.at[i] = each;
            rows = std::max(rows, each.n);
            bytes = std::max(bytes, each.bytes);
            packed = packed && each.bytes % wide == 0 &&
                     packs_in<wide>(wide, static_cast<const std::uint8_t*>(each.whole),
                                    static_cast<const std::uint8_t*>(each.copy)) == 1;
        }
        if (rows == 0 || bytes == 0) return;
        const auto tables = static_cast<std::int64_t>(part.size());
        if (packed)
            launch(name, move_rows_kernel<wide, back>, grid_of_tables(rows, bytes / wide, tables),
                   stream, list);
        else
            launch(name, move_rows_kernel<least, back>, grid_of_tables(rows, bytes / least, tables),
                   stream, list);
    });
}

}  // namespace

void fetch_rows(std::span<const MovedRows> moved, Stream stream) {
    move_rows<false>("fetch_rows", moved, stream);
}
void put_rows(std::span<const MovedRows> moved, Stream stream) {
    move_rows<true>("put_rows", moved, stream);
}

}  // namespace kernels::cuda
