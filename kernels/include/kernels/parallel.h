#pragma once

#include <cstdint>
#include <functional>

namespace kernels::cpu {

/// Threads that kernels started from this thread use; one pool with oneDNN (libgomp). n >= 1.
void set_threads(int n);
int threads();
int hardware_threads();

/// Splits [0, n) into at most threads() ranges of at least `grain` and calls f(begin, end) on each.
/// Runs in the caller when one range is enough: then it costs a comparison. f must not throw.
void parallel_for(std::int64_t n, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& f);

}  // namespace kernels::cpu
