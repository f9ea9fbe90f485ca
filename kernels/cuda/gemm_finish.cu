#include "cuda/gemm_finish.h"

#include "cuda/rows.cuh"

namespace kernels::cuda {
namespace {

template <typename T>
struct FinishArgs {
    T* c;
    const Compute<T>* sums;
    const T* bias;
    std::int64_t batch, rows, cols, ld, stride;
    Compute<T> beta;
    bool relu;
};

/// A team of threads a row, so that it divides once a row.
template <int team, typename T>
__global__ void finish_kernel(FinishArgs<T> args) {
    using W = Compute<T>;
    constexpr int width = pack_width<T>;
    for_each_row<team>(args.batch * args.rows, [&](std::int64_t row, int thread) {
        const std::int64_t block = row / args.rows;
        T* const to = args.c + block * args.stride + (row - block * args.rows) * args.ld;
        const W* const sums = args.sums != nullptr ? args.sums + row * args.cols : nullptr;
        const bool packed = fits_packs<width>(static_cast<const T*>(to)) &&
                            fits_packs<width>(sums) && fits_packs<width>(args.bias);
        for_each_part<team, width>(args.cols, packed, thread, [&](std::int64_t at, auto wide) {
            W value[wide()] = {};
            if (sums != nullptr) {
                const auto found = load_pack<wide()>(sums + at);
#pragma unroll
                for (int k = 0; k < wide(); ++k) value[k] = found.at[k];
            }
            if (args.beta != 0) {
                const auto before = load_pack<wide()>(static_cast<const T*>(to) + at);
#pragma unroll
                for (int k = 0; k < wide(); ++k) value[k] += args.beta * widen(before.at[k]);
            }
            if (args.bias != nullptr) {
                const auto bias = load_pack<wide()>(args.bias + at);
#pragma unroll
                for (int k = 0; k < wide(); ++k) value[k] += widen(bias.at[k]);
            }
            Pack<T, wide()> out;
#pragma unroll
            for (int k = 0; k < wide(); ++k)  // NaN stays
                out.at[k] = narrow<T>(args.relu && value[k] < 0 ? W{0} : value[k]);
            store_pack(to + at, out);
        });
    });
}

}  // namespace

void gemm_finish(Matrix c, const void* sums, const GemmOptions& options, Stream stream) {
    with_floating(c.dtype, [&]<typename T>(T) {
        if (options.batch * c.rows * c.cols == 0) return;
        const FinishArgs<T> args{static_cast<T*>(c.data),
                                 static_cast<const Compute<T>*>(sums),
                                 static_cast<const T*>(options.bias),
                                 options.batch,
                                 c.rows,
                                 c.cols,
                                 c.ld,
                                 options.stride_c,
                                 static_cast<Compute<T>>(options.beta),
                                 options.relu};
        with_team(c.cols, [&](auto team) {
            launch("gemm_finish", finish_kernel<team(), T>,
                   grid_of_rows<team()>(options.batch * c.rows), stream, args);
        });
    });
}

}  // namespace kernels::cuda
