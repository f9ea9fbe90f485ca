#pragma once

#include <cstddef>

#include "tensor/memory/free_ranges.h"

namespace engine {

/// Large blocks of the host's memory. Freed blocks stay with the heap, and neighbours become one
/// range again, so a tensor of any size can lie where others were. Not thread-safe.
///
/// The destructor gives no address space back, since blocks may outlive the heap at the end of the
/// process.
class HostHeap {
public:
    /// Smaller blocks do not belong here: blocks have whole pages.
    static constexpr std::size_t least = std::size_t{64} << 10;
    static constexpr std::size_t page = 4096;

    /// Where a block can lie. Its last `fresh` bytes are new memory of the system; the others are
    /// the heap's already.
    struct Place {
        char* data;
        std::size_t bytes, fresh;
    };

    /// Finds the free range for `bytes`, a multiple of `page`, that needs the fewest newly committed
    /// pages. Valid until the heap changes. Throws kernels::OutOfMemory if there is no address space.
    Place find(std::size_t bytes);
    void* take(const Place& place);
    void give(void* data, std::size_t bytes);
    /// Gives the memory of all free ranges back to the system; returns the bytes of memory. Where
    /// the process's addresses are limited, gives back those of free ranges too: libraries need
    /// some.
    std::size_t release();

private:
    FreeRanges::Range reserve(std::size_t bytes);
    void release_addresses();
    /// At the end of a free range that has new memory behind it.
    Place at_end_of_range(std::size_t bytes) const;

    FreeRanges kept_;   // memory
    FreeRanges fresh_;  // address space only
};

}  // namespace engine
