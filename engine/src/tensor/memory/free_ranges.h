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

    /// From low to high addresses.
    const std::map<char*, std::size_t>& all() const { return by_address_; }
    void clear();

private:
    void insert(const Range& range);
    void erase(const Range& range);

    std::map<char*, std::size_t> by_address_;
    std::set<std::pair<std::size_t, char*>> by_size_;
};

}  // namespace engine
