#include <cassert>

#include "cuda/convert.cuh"
#include "cuda/elementwise_math.cuh"
#include "cuda/pack.cuh"
#include "shared/elementwise_formulas.h"
#include "shared/elementwise_integers.h"

namespace kernels::cuda {
namespace {

/// Formula of a function whose row says `simple`.
template <UnaryOp op>
struct Simple;

#define HALFTONE_CUDA_math(name)
#define HALFTONE_CUDA_math_in_double(name)
#define HALFTONE_CUDA_math_in_pairs(name)
#define HALFTONE_CUDA_simple(name)                    \
    template <>                                       \
    struct Simple<UnaryOp::name> {                    \
        template <typename C>                         \
        static __device__ __forceinline__ C of(C x) { \
            return formula::name(x);                  \
        }                                             \
    };
#define HALFTONE_UNARY(name, cpu, cuda, numbers) HALFTONE_CUDA_##cuda(name)
#include "kernels/elementwise_functions.inc"
#undef HALFTONE_CUDA_simple

template <UnaryOp op, typename T>
__global__ void unary_kernel(T* y, const T* x, std::int64_t packs, std::int64_t n) {
    map_packs<pack_width<T>>(y, x, packs, n,
                             [](T v) { return narrow<T>(Simple<op>::of(widen(v))); });
}

template <typename T>
__global__ void unary_integer_kernel(T* y, const T* x, UnaryOp op, std::int64_t n) {
    map_packs<1>(y, x, 0, n, [op](T v) { return integer::unary(op, v); });
}

__global__ void logical_not_kernel(std::uint8_t* y, const std::uint8_t* x, std::int64_t packs,
                                   std::int64_t n) {
    map_packs<16>(y, x, packs, n, [](std::uint8_t v) { return std::uint8_t{v == 0}; });
}

template <UnaryOp op>
bool start(Array y, ConstArray x, Stream stream) {
    with_floating(y.dtype, [&]<typename T>(T) {
        constexpr int width = pack_width<T>;
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        const std::int64_t packs = packs_in<width>(y.size, to, from);
        launch("unary", unary_kernel<op, T>, grid_of_packs<width>(packs, y.size), stream, to, from,
               packs, y.size);
    });
    return true;
}

/// False if the op is not one of `Simple`.
bool start_simple(Array y, ConstArray x, UnaryOp op, Stream stream) {
    switch (op) {
#define HALFTONE_CUDA_simple(name) \
    case UnaryOp::name:            \
        return start<UnaryOp::name>(y, x, stream);
#define HALFTONE_UNARY(name, cpu, cuda, numbers) HALFTONE_CUDA_##cuda(name)
#include "kernels/elementwise_functions.inc"
        default:
            return false;
    }
}

template <typename T>
void start_integer(Array y, ConstArray x, UnaryOp op, Stream stream) {
    launch("unary", unary_integer_kernel<T>, grid_for(y.size), stream, static_cast<T*>(y.data),
           static_cast<const T*>(x.data), op, y.size);
}

void start_logical_not(Array y, ConstArray x, Stream stream) {
    auto* to = static_cast<std::uint8_t*>(y.data);
    const auto* from = static_cast<const std::uint8_t*>(x.data);
    const std::int64_t packs = packs_in<16>(y.size, to, from);
    launch("unary", logical_not_kernel, grid_of_packs<16>(packs, y.size), stream, to, from, packs,
           y.size);
}

}  // namespace

void unary(Array y, ConstArray x, UnaryOp op, Stream stream) {
    assert(y.size == x.size && y.dtype == x.dtype);
    if (y.size == 0) return;
    if (y.dtype == DType::i64)
        start_integer<std::int64_t>(y, x, op, stream);
    else if (y.dtype == DType::i32)
        start_integer<std::int32_t>(y, x, op, stream);
    else if (!is_floating(y.dtype) && op == UnaryOp::logical_not)
        start_logical_not(y, x, stream);
    else if (!start_simple(y, x, op, stream))
        unary_math(y, x, op, stream);
}

}  // namespace kernels::cuda
