#include "tensor/memory/free_ranges.h"

#include <iterator>

namespace engine {

void FreeRanges::insert(const Range& range) {
    by_address_.emplace(range.data, range.bytes);
    by_size_.emplace(range.bytes, range.data);
}

void FreeRanges::erase(const Range& range) {
    by_address_.erase(range.data);
    by_size_.erase({range.bytes, range.data});
}

void FreeRanges::add(const Range& range) {
    Range joined = range;
    if (const auto after = starting_at(range.end())) {
        erase(*after);
        joined.bytes += after->bytes;
    }
    if (const auto before = ending_at(range.data)) {
        erase(*before);
        joined = {before->data, before->bytes + joined.bytes};
    }
    insert(joined);
}

void FreeRanges::take(char* data, std::size_t bytes) {
    const Range range = *starting_at(data);
    erase(range);
    if (bytes < range.bytes) insert({data + bytes, range.bytes - bytes});
}

std::optional<FreeRanges::Range> FreeRanges::smallest(std::size_t bytes) const {
    const auto found = by_size_.lower_bound({bytes, nullptr});
    if (found == by_size_.end()) return std::nullopt;
    return Range{found->second, found->first};
}

std::optional<FreeRanges::Range> FreeRanges::starting_at(char* data) const {
    const auto found = by_address_.find(data);
    if (found == by_address_.end()) return std::nullopt;
    return Range{found->first, found->second};
}

std::optional<FreeRanges::Range> FreeRanges::ending_at(const char* end) const {
    auto next = by_address_.lower_bound(const_cast<char*>(end));
    if (next == by_address_.begin()) return std::nullopt;
    const Range before{std::prev(next)->first, std::prev(next)->second};
    if (before.end() != end) return std::nullopt;
    return before;
}

void FreeRanges::clear() {
    by_address_.clear();
    by_size_.clear();
}

}  // namespace engine
