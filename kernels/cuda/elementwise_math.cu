#include "cuda/elementwise_math.cuh"

#include <cmath>
#include <numbers>

#include "cuda/convert.cuh"
#include "cuda/pack.cuh"
#include "shared/elementwise_formulas.h"
#include "shared/gelu_formulas.h"

namespace kernels::cuda {
namespace {

namespace function {

using namespace formula;  // NOLINT(google-build-using-namespace)

/// Standard normal distribution. In f32 at most 5 units off: of use to the 16-bit types only.
__device__ __forceinline__ double cumulative(double x) {
    return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2);
}
__device__ __forceinline__ float cumulative(float x) { return normcdff(x); }

/// At -infinity NaN, like the product that it is: an overflow before it must not vanish.
template <typename C>
__device__ __forceinline__ C gelu(C x) {
    return x * cumulative(x);
}

__device__ __forceinline__ float erfinv(float x) { return erfinvf(x); }
__device__ __forceinline__ double erfinv(double x) { return ::erfinv(x); }

}  // namespace function

/// Formula of a function whose row says `math...`, and that of f32. In double where f32 is not
/// precise enough inside: erfc multiplies the error of its argument by x^2, and CUDA's f32 forms of
/// the others are up to 4 units off, which is of use to the 16-bit types only.
template <UnaryOp op>
struct Math;

#define HALFTONE_CUDA_simple(name)
#define HALFTONE_CUDA_math(name) HALFTONE_MATH(name, function::name(x))
#define HALFTONE_CUDA_math_in_double(name) \
    HALFTONE_MATH(name, static_cast<float>(function::name(static_cast<double>(x))))
#define HALFTONE_CUDA_math_in_pairs(name) HALFTONE_MATH(name, gelu_formula::name(x))
#define HALFTONE_MATH(name, formula_of_f32)                                                \
    template <>                                                                            \
    struct Math<UnaryOp::name> {                                                           \
        template <typename C>                                                              \
        static __device__ __forceinline__ C of(C x) {                                      \
            return function::name(x);                                                      \
        }                                                                                  \
        static __device__ __forceinline__ float of_f32(float x) { return formula_of_f32; } \
    };
#define HALFTONE_UNARY(name, cpu, cuda, numbers) HALFTONE_CUDA_##cuda(name)
#include "kernels/elementwise_functions.inc"
#undef HALFTONE_MATH

/// Two 16-bit elements to a thread: more would cost more code and registers than it saves in
/// accesses.
template <typename T>
constexpr int math_width = sizeof(T) == 2 ? 2 : 1;

template <UnaryOp op, typename T>
__global__ void math_kernel(T* y, const T* x, std::int64_t packs, std::int64_t n) {
    map_packs<math_width<T>>(y, x, packs, n, [](T v) {
        if constexpr (std::is_same_v<T, float>)
            return Math<op>::of_f32(v);
        else
            return narrow<T>(Math<op>::of(widen(v)));
    });
}

template <UnaryOp op>
void start(Array y, ConstArray x, Stream stream) {
    with_floating(y.dtype, [&]<typename T>(T) {
        constexpr int width = math_width<T>;
        auto* to = static_cast<T*>(y.data);
        const auto* from = static_cast<const T*>(x.data);
        const std::int64_t packs = packs_in<width>(y.size, to, from);
        launch("unary", math_kernel<op, T>, grid_of_packs<width>(packs, y.size), stream, to, from,
               packs, y.size);
    });
}

}  // namespace

void unary_math(Array y, ConstArray x, UnaryOp op, Stream stream) {
    switch (op) {
#define HALFTONE_MATH(name, formula_of_f32) \
    case UnaryOp::name:                     \
        return start<UnaryOp::name>(y, x, stream);
#define HALFTONE_UNARY(name, cpu, cuda, numbers) HALFTONE_CUDA_##cuda(name)
#include "kernels/elementwise_functions.inc"
        default:
            throw DeviceError("unary: no such function in the CUDA backend");
    }
}

}  // namespace kernels::cuda
