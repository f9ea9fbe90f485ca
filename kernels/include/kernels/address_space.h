#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels::cpu {

/// Address space whose pages become memory when they are first written to, in huge pages where the
/// system has them. Aligned to a huge page. Throws OutOfMemory.
void* reserve(std::size_t bytes);

/// Gives the memory of the whole pages in [data, data + bytes) back to the system. They stay
/// reserved, and what they held is lost.
void give_pages_back(void* data, std::size_t bytes) noexcept;

/// Ends a reservation, or that of a part of whole pages.
void unreserve(void* data, std::size_t bytes) noexcept;

/// Bytes of addresses that the process may still take where they are limited (`ulimit -v`); the
/// largest number where they are not.
std::int64_t address_space_left() noexcept;

}  // namespace kernels::cpu
