#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/array.h"

#ifdef HALFTONE_SIMT
#include "simt/language.h"
#else
#include <cuda_runtime.h>
#endif

namespace kernels::cuda {

/// One-dimensional blocks; blocks x blocks_y of them.
struct Grid {
    std::int64_t blocks = 1;
    int threads = 256;
    std::int64_t blocks_y = 1;  ///< at most 65,535
};

constexpr int warp_size = 32;
constexpr int default_threads = 256;

/// A kernel's parameters are copied bit by bit, and are at most 4 KiB on every card.
template <typename... P>
constexpr bool fit_launch = (std::is_trivially_copyable_v<P> && ...) &&
                            (sizeof(P) + ... + std::size_t{0}) <= 4096;

/// Multiprocessors of the calling thread's device.
int multiprocessors();

/// A grid for a loop with a grid stride over n items, `per_thread` of them at a time: enough blocks
/// to fill the device, no more.
inline Grid grid_for(std::int64_t n, int per_thread = 1, int threads = default_threads) {
    const std::int64_t per_block = static_cast<std::int64_t>(threads) * per_thread;
    const std::int64_t wanted = (n + per_block - 1) / per_block;
    const std::int64_t most = static_cast<std::int64_t>(multiprocessors()) * (2048 / threads);
    return {std::max<std::int64_t>(1, std::min(wanted, most)), threads};
}

#ifdef HALFTONE_SIMT

/// Calls the kernel for one thread. What the host keeps for it is none of the kernel's accesses.
template <typename... P, std::size_t... I>
HALFTONE_SIMT_UNWATCHED void run_thread(void (*kernel)(P...), const std::tuple<P...>& values,
                                        std::index_sequence<I...>) {
    kernel(std::get<I>(values)...);
}

/// Queues the kernel on the simulated device; the arguments are taken now.
template <typename... P, typename... A>
void launch(const char* name, void (*kernel)(P...), const Grid& grid, Stream stream, A&&... args) {
    static_assert(fit_launch<P...>);
    if (grid.blocks == 0 || grid.blocks_y == 0) return;
    simt::enqueue_kernel(name, {grid.blocks, grid.blocks_y, grid.threads}, stream,
                         [kernel, values = std::tuple<P...>(std::forward<A>(args)...)] {
                             run_thread(kernel, values, std::index_sequence_for<P...>{});
                         });
}

#else

/// Starts it, counts it, checks it; throws DeviceError with `name`.
void launch_raw(const char* name, const void* kernel, const Grid& grid, void** arguments,
                Stream stream);

/// Starts `kernel` on the stream; asynchronous. An empty grid starts nothing. Arguments convert as
/// in a call; together at most 4 KiB. Throws DeviceError with `name`.
template <typename... P, typename... A>
void launch(const char* name, void (*kernel)(P...), const Grid& grid, Stream stream, A&&... args) {
    static_assert(fit_launch<P...>);
    if (grid.blocks == 0 || grid.blocks_y == 0) return;
    std::tuple<P...> values(std::forward<A>(args)...);
    std::apply(
        [&](auto&... value) {
            void* arguments[] = {const_cast<void*>(static_cast<const void*>(&value))...};
            launch_raw(name, reinterpret_cast<const void*>(kernel), grid, arguments, stream);
        },
        values);
}

#endif

}  // namespace kernels::cuda
