#include <cassert>

#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "kernels/elementwise.h"
#include "shared/elementwise_formulas.h"
#include "shared/elementwise_integers.h"
#include "shared/gelu_formulas.h"

namespace kernels::cuda {
namespace {

/// The function's formula. In double where the f32 function is more than 2 units off, or where the
/// sum of a remainder would be rounded twice.
template <BinaryOp op>
struct Function;

#define HALFTONE_CUDA_simple(name) HALFTONE_FUNCTION(name, false)
#define HALFTONE_CUDA_math(name) HALFTONE_FUNCTION(name, false)
#define HALFTONE_CUDA_simple_in_double(name) HALFTONE_FUNCTION(name, true)
#define HALFTONE_CUDA_math_in_double(name) HALFTONE_FUNCTION(name, true)
#define HALFTONE_FUNCTION(name, double_inside)             \
    template <>                                            \
    struct Function<BinaryOp::name> {                      \
        static constexpr bool in_double = double_inside;   \
        template <typename C>                              \
        static __device__ __forceinline__ C of(C a, C b) { \
            return formula::name(a, b);                    \
        }                                                  \
    };
#define HALFTONE_CUDA_math_in_pairs(name)                                 \
    template <>                                                           \
    struct Function<BinaryOp::name> {                                     \
        static constexpr bool in_double = false;                          \
        static __device__ __forceinline__ double of(double a, double b) { \
            return formula::name(a, b);                                   \
        }                                                                 \
        static __device__ __forceinline__ float of(float a, float b) {    \
            return gelu_formula::name(a, b);                              \
        }                                                                 \
    };
#define HALFTONE_BINARY(name, cpu, cuda, numbers) HALFTONE_CUDA_##cuda(name)
#include "kernels/elementwise_functions.inc"

/// Long formulas cost more code and registers than wide accesses save.
template <BinaryOp op>
constexpr bool is_long =
    Function<op>::in_double || op == BinaryOp::gelu_backward || op == BinaryOp::gelu_tanh_backward;
template <BinaryOp op, typename T>
constexpr int binary_width = is_long<op> ? 1 : pack_width<T>;

template <BinaryOp op, typename T>
__global__ void binary_kernel(T* y, Operand<T> a, Operand<T> b, std::int64_t packs,
                              std::int64_t n) {
    map_packs<binary_width<op, T>>(y, a, b, packs, n, [](T u, T v) {
        if constexpr (Function<op>::in_double)
            return narrow<T>(
                Function<op>::of(static_cast<double>(widen(u)), static_cast<double>(widen(v))));
        else
            return narrow<T>(Function<op>::of(widen(u), widen(v)));
    });
}

template <typename T>
__global__ void binary_integer_kernel(T* y, Operand<T> a, Operand<T> b, BinaryOp op,
                                      std::int64_t n) {
    map_packs<1>(y, a, b, 0, n, [op](T u, T v) { return integer::binary(op, u, v); });
}

template <BinaryOp op>
void start(Array y, ConstArray a, ConstArray b, Stream stream) {
    with_floating(y.dtype, [&]<typename T>(T) {
        constexpr int width = binary_width<op, T>;
        auto* to = static_cast<T*>(y.data);
        const auto left = operand<T>(a), right = operand<T>(b);
        const std::int64_t packs = packs_in<width>(y.size, to, left.packed(), right.packed());
        launch("binary", binary_kernel<op, T>, grid_of_packs<width>(packs, y.size), stream, to,
               left, right, packs, y.size);
    });
}

template <typename T>
void start_integer(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream stream) {
    launch("binary", binary_integer_kernel<T>, grid_for(y.size), stream, static_cast<T*>(y.data),
           operand<T>(a), operand<T>(b), op, y.size);
}

void start_floating(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream stream) {
    switch (op) {
#define HALFTONE_BINARY(name, cpu, cuda, numbers) \
    case BinaryOp::name:                          \
        return start<BinaryOp::name>(y, a, b, stream);
#include "kernels/elementwise_functions.inc"
    }
}

}  // namespace

void binary(Array y, ConstArray a, ConstArray b, BinaryOp op, Stream stream) {
    assert(a.dtype == y.dtype && b.dtype == y.dtype);
    assert((a.size == y.size || a.size == 1) && (b.size == y.size || b.size == 1));
    if (y.size == 0) return;
    if (y.dtype == DType::i64)
        start_integer<std::int64_t>(y, a, b, op, stream);
    else if (y.dtype == DType::i32)
        start_integer<std::int32_t>(y, a, b, op, stream);
    else
        start_floating(y, a, b, op, stream);
}

}  // namespace kernels::cuda
