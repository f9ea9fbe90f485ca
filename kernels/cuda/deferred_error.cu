#include "cuda/deferred_error.cuh"

#include <cassert>

#include "cuda/convert.cuh"
#include "cuda/grid_stride.cuh"

namespace kernels::cuda {
namespace {

/// Each thread notes the least that it finds, once.
template <typename T, typename Wrong>
__device__ void note_wrong(const DeferredErrorPlace& place, const T* x, std::int64_t n,
                           const Wrong& wrong) {
    bool found = false;
    std::uint64_t least = 0;
    for (std::int64_t i = grid_thread(); i < n; i += grid_threads()) {
        const auto value = wrong.read(x[i]);
        if (!wrong(value)) continue;
        const std::uint64_t code = code_of(value);
        if (!found || code < least) least = code;
        found = true;
    }
    if (found) record_error(place, least);
}

struct OutsideWhole {
    WholeRange range;
    __device__ std::int64_t read(std::int64_t v) const { return v; }
    __device__ bool operator()(std::int64_t v) const { return !range.holds(v); }
};

struct OutsideNumbers {
    double low, high;
    template <typename T>
    __device__ double read(T v) const {
        return static_cast<double>(widen(v));
    }
    __device__ bool operator()(double v) const { return v < low || v > high; }
};

__global__ void check_whole_kernel(DeferredErrorPlace place, const std::int64_t* x, std::int64_t n,
                                   WholeRange range) {
    note_wrong(place, x, n, OutsideWhole{range});
}

template <typename T>
__global__ void check_numbers_kernel(DeferredErrorPlace place, const T* x, std::int64_t n,
                                     double low, double high) {
    note_wrong(place, x, n, OutsideNumbers{low, high});
}

__global__ void take_deferred_error_kernel(DeferredError* to, DeferredError* note) {
    if (*to == 0) *to = *note;
    *note = 0;
}

}  // namespace

void check_whole(const DeferredErrorPlace& place, ConstArray x, const WholeRange& range,
                 Stream stream) {
    assert(x.dtype == DType::i64);
    if (x.size == 0) return;
    launch("check_whole", check_whole_kernel, grid_for(x.size), stream, place,
           static_cast<const std::int64_t*>(x.data), x.size, range);
}

void check_numbers(const DeferredErrorPlace& place, ConstArray x, double low, double high,
                   Stream stream) {
    if (x.size == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
        launch("check_numbers", check_numbers_kernel<T>, grid_for(x.size), stream, place,
               static_cast<const T*>(x.data), x.size, low, high);
    });
}

void take_deferred_error(DeferredError* to, DeferredError* note, Stream stream) {
    launch("take_deferred_error", take_deferred_error_kernel, Grid{1, 1}, stream, to, note);
}

}  // namespace kernels::cuda
