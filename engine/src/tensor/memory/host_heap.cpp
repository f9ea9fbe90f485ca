#include "tensor/memory/host_heap.h"

#include <sanitizer/asan_interface.h>

#include <cstdint>
#include <iterator>
#include <limits>

#include "kernels/device.h"
#include "kernels/device_error.h"

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

namespace {

using Range = FreeRanges::Range;

/// Where the process's addresses are limited (`ulimit -v`), this much remains for scratch memory
/// and for libraries. oneDNN crashes if it gets none for the code of a primitive.
constexpr std::int64_t for_libraries = std::int64_t{128} << 20;

/// Reserves address space for `bytes` and for later growth.
Range reserved(std::size_t bytes) {
    constexpr std::size_t usual = std::size_t{1} << 30;
    const std::int64_t left = kernels::cpu::address_space_left() - for_libraries;
    if (left < 0 || bytes > static_cast<std::size_t>(left)) throw kernels::OutOfMemory(bytes);
    // Takes the usual size only if that is at most a quarter of the addresses left: most remain for
    // others.
    if (bytes < usual && usual <= static_cast<std::size_t>(left) / 4) {
        try {
            return {static_cast<char*>(kernels::cpu::reserve(usual)), usual};
        } catch (const kernels::OutOfMemory&) {  // there may be room for this block alone
        }
    }
    return {static_cast<char*>(kernels::cpu::reserve(bytes)), bytes};
}

}  // namespace

HostHeap::Place HostHeap::find(std::size_t bytes) {
    if (const auto range = kept_.smallest(bytes)) return {range->data, bytes, 0};
    if (const Place place = at_end_of_range(bytes); place.data) return place;
    auto range = fresh_.smallest(bytes);
    if (!range) {
        fresh_.add(reserve(bytes));
        range = fresh_.smallest(bytes);
    }
    return {range->data, bytes, bytes};
}

/// Free ranges that are all too short may together be the addresses that are missing.
FreeRanges::Range HostHeap::reserve(std::size_t bytes) {
    try {
        return reserved(bytes);
    } catch (const kernels::OutOfMemory&) {
        if (fresh_.all().empty()) throw;
    }
    release_addresses();
    return reserved(bytes);
}

HostHeap::Place HostHeap::at_end_of_range(std::size_t bytes) const {
    Place best{nullptr, bytes, bytes};
    for (const auto& [data, size] : fresh_.all()) {
        const auto before = kept_.ending_at(data);
        if (!before || before->bytes + size < bytes) continue;
        const std::size_t fresh = bytes - before->bytes;
        if (fresh < best.fresh) best = {before->data, bytes, fresh};
    }
    return best;
}

void* HostHeap::take(const Place& place) {
    const std::size_t kept = place.bytes - place.fresh;
    if (kept > 0) kept_.take(place.data, kept);
    if (place.fresh > 0) fresh_.take(place.data + kept, place.fresh);
    ASAN_UNPOISON_MEMORY_REGION(place.data, place.bytes);
    return place.data;
}

void HostHeap::give(void* data, std::size_t bytes) {
    ASAN_POISON_MEMORY_REGION(data, bytes);
    kept_.add({static_cast<char*>(data), bytes});
}

std::size_t HostHeap::release() {
    std::size_t bytes = 0;
    for (const auto& [data, size] : kept_.all()) {
        kernels::cpu::give_pages_back(data, size);
        fresh_.add({data, size});
        bytes += size;
    }
    kept_.clear();
    constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    if (kernels::cpu::address_space_left() < unlimited) release_addresses();
    return bytes;
}

void HostHeap::release_addresses() {
    for (const auto& [data, size] : fresh_.all()) {
        ASAN_UNPOISON_MEMORY_REGION(data, size);  // others may have these addresses next
        kernels::cpu::unreserve(data, size);
    }
    fresh_.clear();
}

}  // namespace engine
