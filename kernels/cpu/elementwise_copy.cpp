#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>

#include "cpu/grain.h"
#include "kernels/elementwise.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t copy_tile = 32;  ///< rows and columns of a block

struct Axis {
    std::int64_t size, y, x;  ///< elements and strides
};

struct Axes {
    std::array<Axis, max_rank> axis;
    int rank = 0;
};

/// The axes longer than 1, sorted by descending stride of y. Neighbours are joined if one stride
/// covers both on either side.
Axes simplified(const Strided& y, const ConstStrided& x) {
    Axes axes;
    for (int i = 0; i < y.rank; ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (y.shape[k] == 1) continue;
        axes.axis[static_cast<std::size_t>(axes.rank++)] = {y.shape[k], y.strides[k], x.strides[k]};
    }
    std::stable_sort(axes.axis.begin(), axes.axis.begin() + axes.rank,
                     [](const Axis& a, const Axis& b) { return a.y > b.y; });
    Axes joined;
    for (int i = 0; i < axes.rank; ++i) {
        const Axis next = axes.axis[static_cast<std::size_t>(i)];
        if (joined.rank > 0) {
            Axis& last = joined.axis[static_cast<std::size_t>(joined.rank - 1)];
            if (last.y == next.size * next.y && last.x == next.size * next.x) {
                last = {last.size * next.size, next.y, next.x};
                continue;
            }
        }
        joined.axis[static_cast<std::size_t>(joined.rank++)] = next;
    }
    return joined;
}

template <class T>
void copy_row(T* y, const T* x, std::int64_t n, std::int64_t step_y, std::int64_t step_x) {
    if (step_y == 1 && step_x == 1) {
        std::memcpy(y, x, static_cast<std::size_t>(n) * sizeof(T));
    } else if (step_y == 1 && step_x == 0) {
        std::fill_n(y, n, *x);
    } else {
        for (std::int64_t i = 0; i < n; ++i) y[i * step_y] = x[i * step_x];
    }
}

/// Copies rows x cols in tiles, so that each cache line of a transposed x is used up while cached.
template <class T>
void copy_block(T* y, const T* x, const Axis& rows, const Axis& cols) {
    const std::int64_t width = cols.x == 1 || cols.x == 0 ? cols.size : copy_tile;
    for (std::int64_t c = 0; c < cols.size; c += width)
        for (std::int64_t r = 0; r < rows.size; ++r)
            copy_row(y + r * rows.y + c * cols.y, x + r * rows.x + c * cols.x,
                     std::min(width, cols.size - c), cols.y, cols.x);
}

/// Copies in parallel in blocks of `copy_tile` rows: tasks are the outer axes and the tiles of the
/// second last.
template <class T>
void copy_axes(T* y, const T* x, const Axes& axes) {
    const Axis unit{1, 0, 0};
    const Axis cols = axes.rank > 0 ? axes.axis[static_cast<std::size_t>(axes.rank - 1)] : unit;
    const Axis rows = axes.rank > 1 ? axes.axis[static_cast<std::size_t>(axes.rank - 2)] : unit;
    const std::int64_t row_tiles = (rows.size + copy_tile - 1) / copy_tile;
    std::int64_t blocks = row_tiles;
    for (int k = 0; k < axes.rank - 2; ++k) blocks *= axes.axis[static_cast<std::size_t>(k)].size;
    parallel_for(blocks, row_grain(std::min(rows.size, copy_tile) * cols.size),
                 [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t block = begin; block < end; ++block) {
                         std::int64_t rest = block / row_tiles;
                         std::int64_t at_y = 0, at_x = 0;
                         for (int k = axes.rank - 3; k >= 0; --k) {
                             const Axis& axis = axes.axis[static_cast<std::size_t>(k)];
                             at_y += rest % axis.size * axis.y;
                             at_x += rest % axis.size * axis.x;
                             rest /= axis.size;
                         }
                         const std::int64_t first = block % row_tiles * copy_tile;
                         const Axis part{std::min(copy_tile, rows.size - first), rows.y, rows.x};
                         copy_block(y + at_y + first * rows.y, x + at_x + first * rows.x, part,
                                    cols);
                     }
                 });
}

/// Moves the axis with x's smallest stride, among all but the last, next to the last.
void bring_fast_axis_in(Axes& axes) {
    if (axes.rank < 3) return;
    const auto end = axes.axis.begin() + axes.rank - 1;
    const auto fastest = std::min_element(axes.axis.begin(), end, [](const Axis& a, const Axis& b) {
        return std::abs(a.x) < std::abs(b.x);
    });
    std::rotate(fastest, fastest + 1, end);
}

template <class T>
void copy_typed(const Strided& y, const ConstStrided& x, const Axes& axes) {
    copy_axes(static_cast<T*>(y.data), static_cast<const T*>(x.data), axes);
}

}  // namespace

void copy_strided(Strided y, ConstStrided x, Stream) {
    assert(y.rank == x.rank && y.dtype == x.dtype);
    for (int i = 0; i < y.rank; ++i)
        if (y.shape[static_cast<std::size_t>(i)] == 0) return;
    Axes axes = simplified(y, x);
    bring_fast_axis_in(axes);
    switch (size_of(y.dtype)) {
        case 8:
            return copy_typed<std::uint64_t>(y, x, axes);
        case 4:
            return copy_typed<std::uint32_t>(y, x, axes);
        case 2:
            return copy_typed<std::uint16_t>(y, x, axes);
        default:
            return copy_typed<std::uint8_t>(y, x, axes);
    }
}

}  // namespace kernels::cpu
