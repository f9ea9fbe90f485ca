#pragma once

#include <cstddef>

namespace kernels::cpu {

/// Address space whose pages become memory when they are first written to, in huge pages where the
/// system has them. Aligned to a huge page. Throws OutOfMemory.
void* reserve(std::size_t bytes);

/// Gives the memory of the whole pages in [data, data + bytes) back to the system. They stay
/// reserved, and what they held is lost.
void give_pages_back(void* data, std::size_t bytes) noexcept;

/// Ends the reservation that reserve(bytes) returned.
void unreserve(void* data, std::size_t bytes) noexcept;

}  // namespace kernels::cpu
