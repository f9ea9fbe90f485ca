#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels::cpu {

/// Rows that a loop over scattered rows should prefetch: enough to hide the latency of main memory
/// behind the work on rows of some hundred bytes.
constexpr std::int64_t rows_ahead = 12;

/// Starts loading `bytes` from p into the cache. Any address is allowed.
inline void prefetch(const void* p, std::size_t bytes) {
    constexpr std::size_t line = 64;
    for (std::size_t at = 0; at < bytes; at += line)
        __builtin_prefetch(static_cast<const std::byte*>(p) + at);
}

}  // namespace kernels::cpu
