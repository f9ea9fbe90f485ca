#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/rows.cuh"
#include "kernels/index.h"

namespace kernels::cuda {
namespace {

/// Value for a place without an element: zero in a hole, else NaN of a floating type.
template <typename T>
__device__ __forceinline__ T nothing(bool hole) {
    if constexpr (std::is_integral_v<T>)
        return T{};
    else
        return narrow<T>(hole ? Compute<T>{0} : std::numeric_limits<Compute<T>>::quiet_NaN());
}

/// by_element: an index for each element, not for each row.
template <typename T, bool by_element>
__global__ void select_kernel(T* y, const T* x, const std::int64_t* index, IndexSpan s,
                              std::int64_t n) {
    for (std::int64_t at = grid_thread(); at < n; at += grid_threads()) {
        const std::int64_t row = at / s.inner, c = at - row * s.inner;
        const std::int64_t o = row / s.m;
        const std::int64_t i = index[by_element ? at : row - o * s.m];
        y[at] = i >= 0 && i < s.n ? x[(o * s.n + i) * s.inner + c] : nothing<T>(s.holes && i == -1);
    }
}

/// Rows of `inner` elements, each by a team of threads that divides once for it.
template <int team, typename T>
__global__ void select_rows_kernel(T* y, const T* x, const std::int64_t* index, IndexSpan s,
                                   std::int64_t rows) {
    constexpr int width = pack_width<T>;
    for_each_row<team>(rows, [&](std::int64_t row, int thread) {
        const std::int64_t o = row / s.m, i = index[row - o * s.m];
        T* const to = y + row * s.inner;
        const bool inside = i >= 0 && i < s.n;
        const T* const from = inside ? x + (o * s.n + i) * s.inner : nullptr;
        const bool packed = fits_packs<width>(static_cast<const T*>(to)) && fits_packs<width>(from);
        for_each_part<team, width>(s.inner, packed, thread, [&](std::int64_t at, auto wide) {
            Pack<T, wide()> values;
            if (inside) {
                values = load_pack<wide()>(from + at);
            } else {
#pragma unroll
                for (int k = 0; k < wide(); ++k) values.at[k] = nothing<T>(s.holes && i == -1);
            }
            store_pack(to + at, values);
        });
    });
}

/// The number of elements from which a row has work for a warp.
constexpr std::int64_t min_inner = 16;

template <bool by_element>
void start(const char* name, Array y, ConstArray x, ConstArray index, const IndexSpan& span,
           Stream stream) {
    if (y.size == 0) return;
    with_stored(y.dtype, [&]<typename T>(T) {
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        const auto* places = static_cast<const std::int64_t*>(index.data);
        if (!by_element && span.inner >= min_inner) {
            const std::int64_t rows = y.size / span.inner;
            return with_team(span.inner, [&](auto team) {
                launch(name, select_rows_kernel<team(), T>, grid_of_rows<team()>(rows), stream, to,
                       from, places, span, rows);
            });
        }
        launch(name, select_kernel<T, by_element>, grid_for(y.size), stream, to, from, places, span,
               y.size);
    });
}

}  // namespace

void index_select(Array y, ConstArray x, ConstArray index, const IndexSpan& span, Stream stream) {
    start<false>("index_select", y, x, index, span, stream);
}

void gather(Array y, ConstArray x, ConstArray index, const IndexSpan& span, Stream stream) {
    start<true>("gather", y, x, index, span, stream);
}

}  // namespace kernels::cuda
