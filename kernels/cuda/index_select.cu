#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"
#include "kernels/index.h"

namespace kernels::cuda {
namespace {

/// What is read where nothing is: zero in a hole, else NaN of a floating type.
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

template <bool by_element>
void start(const char* name, Array y, ConstArray x, ConstArray index, const IndexSpan& span,
           Stream stream) {
    if (y.size == 0) return;
    with_stored(y.dtype, [&](auto type) {
        using T = decltype(type);
        launch(name, select_kernel<T, by_element>, grid_for(y.size), stream,
               static_cast<T*>(y.data), static_cast<const T*>(x.data),
               static_cast<const std::int64_t*>(index.data), span, y.size);
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
