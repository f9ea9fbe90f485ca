#include "cuda/block_reduce.cuh"
#include "cuda/early_launch.cuh"
#include "cuda/last_block.cuh"
#include "cuda/multi_tensor_list.cuh"
#include "cuda/workspace.h"
#include "kernels/multi_tensor.h"

namespace kernels::cuda {
namespace {

constexpr int max_tensors = 128;
constexpr int threads = default_threads;

struct GradList {
    Chunks<max_tensors> chunks;
    void* data[max_tensors];
    DType dtype[max_tensors];

    void add(void* grad, DType type, std::int64_t size) {
        const int i = chunks.add(size);
        data[i] = grad;
        dtype[i] = type;
    }
};
static_assert(sizeof(GradList) + 128 <= 4096);

/// Bounds of f16 as bits of f32 magnitudes, which increase with the value. Above the first a
/// magnitude does not flush to 0 (a tie at 2^-25 rounds to the even 0); from the second on it
/// rounds to a normal value (the tie 2^-14 - 2^-25 does); from the third on to infinity.
constexpr std::uint32_t last_flushed = 0x33000000;
constexpr std::uint32_t first_normal = 0x387fe000;
constexpr std::uint32_t first_infinite = 0x477ff000;
constexpr std::uint32_t infinity_bits = 0x7f800000;
/// 2^-50 and 2^60: squares of less than 2^-149 are then below 2^-49 of the sum, and the sum of 8
/// squares stays below 2^128.
constexpr std::uint32_t min_in_f32 = 0x26800000, max_in_f32 = 0x5d800000;
constexpr std::uint32_t magnitude_bits = 0x7fffffff;

/// Counters of magnitudes of one thread: less than 2^32 elements.
struct Tally {
    double sum_squares = 0;
    std::uint32_t above_zero = 0, above_flushed = 0, normal = 0, infinite = 0, largest = 0;
    std::uint32_t largest_f16 = 0;

    __device__ __forceinline__ void count(std::uint32_t bits) {
        above_zero += bits > 0 ? 1 : 0;
        above_flushed += bits > last_flushed ? 1 : 0;
        normal += bits >= first_normal ? 1 : 0;
        infinite += bits >= first_infinite ? 1 : 0;
    }
    /// Adds up the squares in f32, which rounds each at most `width` times, because most cards do
    /// 64 operations in f32 in the time of one in f64. Uses f64 if squares could overflow or
    /// underflow.
    template <int width>
    __device__ __forceinline__ void add(const float (&values)[width]) {
        std::uint32_t most = 0;
        float sum = 0;
        for (int k = 0; k < width; ++k) {
            const std::uint32_t bits = __float_as_uint(values[k]) & magnitude_bits;
            count(bits);
            most = bits > most ? bits : most;
            sum += values[k] * values[k];
        }
        largest = most > largest ? most : largest;
        if (most == 0) return;
        if (most >= min_in_f32 && most <= max_in_f32)
            sum_squares += static_cast<double>(sum);
        else
            add_wide_squares(values);
    }
    template <int width>
    __device__ __forceinline__ void add(const double (&values)[width]) {
        for (int k = 0; k < width; ++k) add(values[k]);
    }
    template <int width>
    __device__ __forceinline__ void add_f16(const float (&values)[width]) {
        for (int k = 0; k < width; ++k) {
            const std::uint32_t bits = __float_as_uint(values[k]) & magnitude_bits;
            largest_f16 = bits > largest_f16 ? bits : largest_f16;
        }
    }
    template <int width>
    __device__ __forceinline__ void add_wide_squares(const float (&values)[width]) {
        for (int k = 0; k < width; ++k) {
            const double wide = static_cast<double>(values[k]);
            sum_squares += wide * wide;
        }
    }
    __device__ __forceinline__ void add(double value) {
        // Rounding to odd keeps a value on its side of every bound and away from 0.
        count(__float_as_uint(to_float_odd(value)) & magnitude_bits);
        std::uint32_t bits = __float_as_uint(static_cast<float>(value)) & magnitude_bits;
        if (bits == infinity_bits && std::isfinite(value)) --bits;
        largest = bits > largest ? bits : largest;
        sum_squares += value * value;
    }
};

/// Findings of a block.
struct Partial {
    double sum_squares;
    std::int64_t above_zero, above_flushed, normal, infinite;
    std::uint32_t largest, largest_f16;
};

struct Largest {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};

/// For every thread of the block; the order of the sums is fixed.
template <typename From>
__device__ Partial of_block(const From& mine) {
    Partial all;
    all.sum_squares = block_reduce<threads>(mine.sum_squares, Sum());
    const auto sum = [](auto value) {
        return block_reduce<threads>(static_cast<std::int64_t>(value), Sum());
    };
    all.above_zero = sum(mine.above_zero);
    all.above_flushed = sum(mine.above_flushed);
    all.normal = sum(mine.normal);
    all.infinite = sum(mine.infinite);
    all.largest = block_reduce<threads>(mine.largest, Largest());
    all.largest_f16 = block_reduce<threads>(mine.largest_f16, Largest());
    return all;
}

/// End of a check: `gradient_statistics` is null but in the launch that ends it, whose last block
/// adds up what all blocks of the check have left, `blocks` of them.
struct CheckEnd {
    GradientStatistics* gradient_statistics;
    unsigned* finished;
    const Partial* partials;
    int blocks;
    std::int64_t total;
};

/// Joins the blocks' results in their order, in one block.
__device__ __forceinline__ void end_check(const CheckEnd& end) {
    Partial mine{};
    for (int i = static_cast<int>(threadIdx.x); i < end.blocks; i += threads) {
        constexpr int words = sizeof(Partial) / sizeof(std::int64_t);
        const auto one = std::bit_cast<Partial>(
            load_pack_of_others<words>(reinterpret_cast<const std::int64_t*>(end.partials + i)));
        mine.sum_squares += one.sum_squares;
        mine.above_zero += one.above_zero;
        mine.above_flushed += one.above_flushed;
        mine.normal += one.normal;
        mine.infinite += one.infinite;
        mine.largest = Largest()(mine.largest, one.largest);
        mine.largest_f16 = Largest()(mine.largest_f16, one.largest_f16);
    }
    const Partial all = of_block(mine);
    if (threadIdx.x != 0) return;
    GradientStatistics& to = *end.gradient_statistics;
    to.found_inf = all.largest >= infinity_bits ? 1.0f : 0.0f;
    to.abs_max = __uint_as_float(all.largest);
    to.sum_squares = all.sum_squares;
    to.nonzero = all.above_zero;
    to.to_zero = all.above_zero - all.above_flushed;
    to.subnormal = all.above_flushed - all.normal;
    to.overflow = all.infinite;
    to.total = end.total;
    to.f16_abs_max = __uint_as_float(all.largest_f16);
}

__global__ void gradient_check_kernel(Partial* partials, GradList grads, CheckEnd end) {
    wait_for_earlier_kernels();
    let_next_kernel_start();
    constexpr int width = 8;
    Tally tally;
    for_each_run<width>(grads.chunks, [&](int tensor, std::int64_t i, int n) {
        as_floating(grads.dtype[tensor], [&]<typename T>(T) {
            Compute<T> values[width];
            load_run(values, static_cast<const T*>(grads.data[tensor]) + i, n);
            tally.add(values);  // elements beyond n are 0 and add nothing
            if constexpr (std::is_same_v<T, Half>) tally.add_f16(values);
        });
    });
    const Partial all = of_block(tally);
    if (threadIdx.x == 0) partials[blockIdx.x] = all;
    if (end.gradient_statistics == nullptr || !is_last_block(end.finished, gridDim.x)) return;
    end_check(end);
}

/// Whether a value was not finite; multiplies them unless the factor is exactly 1, where a product
/// would still make signalling NaN quiet.
template <typename T>
__device__ __forceinline__ bool unscale_run(T* at, int n, float factor) {
    constexpr int width = 8;
    Compute<T> values[width];
    load_run(values, at, n);
    bool found = false;
    for (int k = 0; k < width; ++k) {
        found = found || !std::isfinite(values[k]);
        values[k] *= static_cast<Compute<T>>(factor);
    }
    if (factor != 1.0f) store_run(at, values, n);
    return found;
}

__global__ void unscale_kernel(float* found_inf, const float* inv_scale, GradList grads) {
    const float factor = *inv_scale;
    bool found = false;
    for_each_run<8>(grads.chunks, [&](int tensor, std::int64_t i, int n) {
        as_floating(grads.dtype[tensor], [&]<typename T>(T) {
            found = unscale_run(static_cast<T*>(grads.data[tensor]) + i, n, factor) || found;
        });
    });
    raise_flag(found_inf, found);
}

/// f(list) for lists of all the tensors that have elements.
template <typename Tensors, typename F>
void in_lists(const Tensors& tensors, const F& f) {
    GradList list;
    for (const auto& tensor : tensors) {
        if (tensor.size == 0) continue;
        list.add(const_cast<void*>(static_cast<const void*>(tensor.data)), tensor.dtype,
                 tensor.size);
        if (!list.chunks.full()) continue;
        f(list);
        list.chunks = {};
    }
    if (list.chunks.tensors > 0) f(list);
}

}  // namespace

void multi_tensor_gradient_check(GradientStatistics* gradient_statistics,
                                 std::span<const ConstArray> grads, Stream stream) {
    std::int64_t total = 0, blocks = 0;
    for (const ConstArray& grad : grads) total += grad.size;
    const auto grid_of_list = [](const GradList& list) {
        Grid grid = grid_of(list.chunks);
        grid.blocks = std::max<std::int64_t>(grid.blocks, 1);  // the end needs one
        return grid;
    };
    in_lists(grads, [&](const GradList& list) { blocks += grid_of_list(list).blocks; });
    const bool none = blocks == 0;
    if (none) blocks = 1;
    auto* partials = static_cast<Partial*>(
        workspace(static_cast<std::size_t>(blocks) * sizeof(Partial), stream));
    std::int64_t done = 0;
    const auto start = [&](const GradList& list) {
        const Grid grid = grid_of_list(list);
        const bool last = done + grid.blocks == blocks;
        const CheckEnd end{last ? gradient_statistics : nullptr,
                           last ? finish_counts(stream) : nullptr, partials,
                           static_cast<int>(blocks), total};
        launch_early("multi_tensor_gradient_check", gradient_check_kernel, grid, stream,
                     partials + done, list, end);
        done += grid.blocks;
    };
    if (none)
        start({});
    else
        in_lists(grads, start);
}

void multi_tensor_unscale(std::span<const Array> grads, const float* inv_scale, float* found_inf,
                          Stream stream) {
    in_lists(grads, [&](const GradList& list) {
        launch("multi_tensor_unscale", unscale_kernel, grid_of(list.chunks), stream, found_inf,
               inv_scale, list);
    });
}

}  // namespace kernels::cuda
