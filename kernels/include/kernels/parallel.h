#pragma once

#include <cstdint>
#include <memory>

namespace kernels::cpu {

/// Threads that kernels started from this thread use; one pool with oneDNN (libgomp). n >= 1.
void set_threads(int n);
int threads();
/// Processors that this process may use: those of its affinity mask, or fewer after
/// limit_hardware_threads().
int hardware_threads();
/// This process's share of the processors, where several processes compute on one machine. n >= 1.
void limit_hardware_threads(int n);

/// Where parallel_for ends up when one range is not enough. context is f's address.
void run_parallel(std::int64_t n, std::int64_t grain,
                  void (*call)(const void* context, std::int64_t begin, std::int64_t end),
                  const void* context);

/// Splits [0, n) into at most threads() ranges of at least `grain` and calls f(begin, end) on each.
/// Runs in the caller if one range is enough, which costs only a comparison. Exceptions of f are
/// rethrown after all ranges have ended; of several, one.
template <class F>
void parallel_for(std::int64_t n, std::int64_t grain, const F& f) {
    if (n < 2 * grain || n < 2) {
        if (n > 0) f(std::int64_t{0}, n);
        return;
    }
    run_parallel(
        n, grain,
        [](const void* context, std::int64_t begin, std::int64_t end) {
            (*static_cast<const F*>(context))(begin, end);
        },
        std::addressof(f));
}

}  // namespace kernels::cpu
