#include "kernels/batch_norm.h"

#include <cassert>

#include "cuda/batch_norm_sums.cuh"
#include "cuda/grid_stride.cuh"
#include "cuda/workspace.h"

namespace kernels::cuda {
namespace {

/// Mean and biased variance from a channel's joined moments.
struct PutMoments {
    Array mean, var;

    __device__ void operator()(std::int64_t c, double first, double distance, double squares,
                               double rows) const {
        put_channel(mean, c, first + distance);
        put_channel(var, c, squares / (rows > 0 ? rows : 1));
    }
};

/// A channel's sums.
struct PutSums {
    Array sum_dy, sum_dy_centred;

    __device__ void operator()(std::int64_t c, double sum, double centred) const {
        put_channel(sum_dy, c, sum);
        put_channel(sum_dy_centred, c, centred);
    }
};

__global__ void welford_merge_kernel(Array mean, Array var, Array unbiased, ConstArray means,
                                     ConstArray vars, const std::int64_t* counts,
                                     std::int64_t parts, std::int64_t channels) {
    for (std::int64_t c = grid_thread(); c < channels; c += grid_threads()) {
        double n = 0, mu = 0, squares = 0;
        for (std::int64_t part = 0; part < parts; ++part) {
            const auto k = static_cast<double>(counts[part]);
            if (counts[part] == 0) continue;
            const double m = channel_or(means, part * channels + c, 0), total = n + k;
            const double delta = mu - m;
            squares += channel_or(vars, part * channels + c, 0) * k + delta * delta * k * n / total;
            mu = (m * k + mu * n) / total;
            n = total;
        }
        put_channel(mean, c, mu);
        put_channel(var, c, squares / n);
        put_channel(unbiased, c, squares / (n - 1));
    }
}

template <typename W>
W* room_for_parts(const Tiling& tiling, Stream stream) {
    const std::int64_t numbers = 2 * tiling.chunks * tiling.channels;
    return static_cast<W*>(workspace(static_cast<std::size_t>(numbers) * sizeof(W), stream));
}

}  // namespace

void welford_local(Array mean, Array var, ConstArray x, std::int64_t rows, std::int64_t channels,
                   Stream stream) {
    assert(x.size == rows * channels && mean.size == channels && var.size == channels);
    if (channels == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
        const auto* in = static_cast<const T*>(x.data);
        const Tiling tiling = make_tiling(rows, channels, 1);
        auto* parts = room_for_parts<Compute<T>>(tiling, stream);
        launch("welford_moments", moments_kernel<T, 1, PutMoments>, grid_of_sums(tiling), stream,
               parts, finish_counts(stream), in, tiling, PutMoments{mean, var});
    });
}

void welford_merge(Array mean, Array var, Array unbiased, ConstArray means, ConstArray vars,
                   ConstArray counts, std::int64_t channels, Stream stream) {
    if (channels == 0) return;
    launch("welford_merge", welford_merge_kernel, grid_for(channels), stream, mean, var, unbiased,
           means, vars, static_cast<const std::int64_t*>(counts.data), counts.size, channels);
}

void welford_backward_sums(Array sum_dy, Array sum_dy_centred, ConstArray dy, ConstArray x,
                           ConstArray mean, std::int64_t rows, std::int64_t channels,
                           Stream stream) {
    assert(x.size == rows * channels && dy.size == x.size && dy.dtype == x.dtype);
    if (channels == 0) return;
    with_floating(x.dtype, [&]<typename T>(T) {
        using W = Compute<T>;
        T* const nowhere = nullptr;
        const T* const none = nullptr;
        unsigned* const unasked = nullptr;
        const Tiling tiling = make_tiling(rows, channels, 1);
        W* parts = room_for_parts<W>(tiling, stream);
        launch("welford_gradient_sums", gradient_sums_kernel<T, 1, PutSums>, grid_of_sums(tiling),
               stream, parts, finish_counts(stream), nowhere, unasked,
               static_cast<const T*>(dy.data), none, static_cast<const T*>(x.data), none,
               static_cast<const W*>(mean.data), ForwardFactors<W>{nullptr, nullptr, nullptr},
               tiling, PutSums{sum_dy, sum_dy_centred});
    });
}

}  // namespace kernels::cuda
