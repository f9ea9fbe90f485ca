#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels::cuda {

constexpr std::size_t hash_start = 0xcbf29ce484222325u;

/// One word more in a hash of plain numbers.
inline void mix(std::size_t& hash, std::int64_t word) {
    hash = (hash ^ static_cast<std::size_t>(word)) * 0x100000001b3u;
    hash ^= hash >> 29;
}

}  // namespace kernels::cuda
