#include "cuda/gemm_finish.h"

#include "cuda/convert.cuh"
#include "cuda/launch.cuh"

namespace kernels::cuda {
namespace {

template <typename T>
struct FinishArgs {
    T* c;
    const Compute<T>* sums;
    const T* bias;
    std::int64_t rows, cols, ld, stride, size;
    Compute<T> beta;
    bool relu;
};

template <typename T>
__global__ void finish_kernel(FinishArgs<T> args) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < args.size; i += step) {
        const std::int64_t row = i / args.cols, col = i - row * args.cols;
        const std::int64_t block = row / args.rows;
        T* at = args.c + block * args.stride + (row - block * args.rows) * args.ld + col;
        Compute<T> value = args.sums ? args.sums[i] : Compute<T>(0);
        if (args.beta != 0) value += args.beta * widen(*at);
        if (args.bias) value += widen(args.bias[col]);
        if (args.relu && value < 0) value = 0;  // NaN stays
        *at = narrow<T>(value);
    }
}

}  // namespace

void gemm_finish(Matrix c, const void* sums, const GemmOptions& options, Stream stream) {
    with_floating(c.dtype, [&](auto zero) {
        using T = decltype(zero);
        const std::int64_t size = options.batch * c.rows * c.cols;
        const FinishArgs<T> args{static_cast<T*>(c.data),
                                 static_cast<const Compute<T>*>(sums),
                                 static_cast<const T*>(options.bias),
                                 c.rows,
                                 c.cols,
                                 c.ld,
                                 options.stride_c,
                                 size,
                                 static_cast<Compute<T>>(options.beta),
                                 options.relu};
        if (size > 0) launch("gemm_finish", finish_kernel<T>, grid_for(size), stream, args);
    });
}

}  // namespace kernels::cuda
