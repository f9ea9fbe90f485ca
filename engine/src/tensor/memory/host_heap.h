#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace engine {

/// Ranges of memory that nobody uses. Neighbours are one range. Not thread-safe.
class FreeRanges {
public:
    struct Range {
        char* data;
        std::size_t bytes;
        char* end() const { return data + bytes; }
        bool operator==(const Range&) const = default;
    };

    /// Adds a range that overlaps none, joined with its neighbours.
    void add(const Range& range);
    /// Takes `bytes` out of the beginning of a range that starts at `data`.
    void take(char* data, std::size_t bytes);

    /// The smallest range of at least `bytes`; of several the lowest.
    std::optional<Range> smallest(std::size_t bytes) const;
    std::optional<Range> starting_at(char* data) const;
    std::optional<Range> ending_at(const char* end) const;

    /// Ranges by address, from low to high.
    const std::map<char*, std::size_t>& all() const { return by_address_; }
    void clear();

private:
    void insert(const Range& range);
    void erase(const Range& range);

    std::map<char*, std::size_t> by_address_;
    std::set<std::pair<std::size_t, char*>> by_size_;
};

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

    /// Finds the free range for `bytes`, a multiple of `page`, that needs the fewest newly
    /// committed pages. Valid until the heap changes. Throws kernels::OutOfMemory if there is no
    /// address space.
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
