#include <limits>

#include "cpu/index_fold.h"
#include "cuda/convert.cuh"
#include "cuda/table_list.cuh"
#include "kernels/embedding_bag.h"

namespace kernels::cuda {
namespace {

constexpr std::size_t max_tables = 192;  ///< of one launch

/// Tables, or the rows of each, as a kernel's argument.
template <typename T>
struct TableList {
    T* data[max_tables];
    std::int64_t rows[max_tables];
};

/// A thread `width` neighbours of a row of y.
template <typename T, int width>
__global__ void embedding_bag_group_kernel(T* __restrict__ y, TableList<const T> tables,
                                           const std::int64_t* __restrict__ index, BagGroup group) {
    using W = Compute<T>;
    const std::int64_t table = blockIdx.y, rows = tables.rows[table];
    const T* const from = tables.data[table];
    for_each_row_part(group.bags, group.width / width, [&](std::int64_t bag, std::int64_t part) {
        const std::int64_t row = index[table * group.bags + bag];
        Pack<T, width> out;
        if (row >= 0 && row < rows) {
            const auto in = load_pack<width>(from + row * group.width + part * width);
#pragma unroll
            for (int k = 0; k < width; ++k) {
                cpu::SumFold<W> sum;
                sum.add(widen(in.at[k]));
                out.at[k] = narrow<T>(sum.value());
            }
        } else {
#pragma unroll
            for (int k = 0; k < width; ++k)
                out.at[k] = narrow<T>(std::numeric_limits<W>::quiet_NaN());
        }
        const std::int64_t vector = bag * group.across + group.first + table;
        store_pack(y + vector * group.width + part * width, out);
    });
}

template <typename T, int width>
__global__ void split_bag_group_kernel(TableList<T> rows, const T* __restrict__ y, BagGroup group) {
    const std::int64_t table = blockIdx.y;
    T* const to = rows.data[table];
    for_each_row_part(group.bags, group.width / width, [&](std::int64_t bag, std::int64_t part) {
        const std::int64_t vector = bag * group.across + group.first + table;
        store_pack(to + bag * group.width + part * width,
                   load_pack<width>(y + vector * group.width + part * width));
    });
}

}  // namespace

void embedding_bag_group(Array y, std::span<const ConstArray> tables, ConstArray index,
                         const BagGroup& group, Stream stream) {
    if (group.bags == 0 || group.width == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        for_each_part_of<max_tables>(tables, [&](std::size_t at, auto part) {
            TableList<const T> list{};
            for (std::size_t t = 0; t < part.size(); ++t) {
                list.data[t] = static_cast<const T*>(part[t].data);
                list.rows[t] = part[t].size / group.width;
            }
            BagGroup own = group;
            own.first += static_cast<std::int64_t>(at);
            const auto* const rows = static_cast<const std::int64_t*>(index.data) +
                                     static_cast<std::int64_t>(at) * group.bags;
            auto* const to = static_cast<T*>(y.data);
            with_row_packs(part, to, group.width, [&](auto wide) {
                launch("embedding_bag", embedding_bag_group_kernel<T, wide()>,
                       grid_of_tables(group.bags, group.width / wide(),
                                      static_cast<std::int64_t>(part.size())),
                       stream, to, list, rows, own);
            });
        });
    });
}

void split_bag_group(std::span<const Array> rows, ConstArray y, const BagGroup& group,
                     Stream stream) {
    if (group.bags == 0 || group.width == 0) return;
    with_floating(y.dtype, [&]<typename T>(T) {
        for_each_part_of<max_tables>(rows, [&](std::size_t at, auto part) {
            TableList<T> list{};
            for (std::size_t t = 0; t < part.size(); ++t)
                list.data[t] = static_cast<T*>(part[t].data);
            BagGroup own = group;
            own.first += static_cast<std::int64_t>(at);
            const auto* const from = static_cast<const T*>(y.data);
            with_row_packs(part, from, group.width, [&](auto wide) {
                launch("split_bags", split_bag_group_kernel<T, wide()>,
                       grid_of_tables(group.bags, group.width / wide(),
                                      static_cast<std::int64_t>(part.size())),
                       stream, list, from, own);
            });
        });
    });
}

}  // namespace kernels::cuda
