#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace kernels::cuda {

constexpr std::size_t hash_start = 0xcbf29ce484222325u;

/// One word more in a hash of plain numbers.
inline void mix(std::size_t& hash, std::int64_t word) {
    hash = (hash ^ static_cast<std::size_t>(word)) * 0x100000001b3u;
    hash ^= hash >> 29;
}

/// Entries by key; beyond `capacity` the one that has not been used for longest is dropped. Not for
/// several threads at a time.
template <class Key, class Entry, class Hash>
class LruCache {
public:
    explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

    /// The entry of `key`, made by make() at first. Valid until the next call.
    template <class Make>
    Entry& get(const Key& key, const Make& make) {
        if (const auto found = places_.find(key); found != places_.end()) {
            entries_.splice(entries_.begin(), entries_, found->second);
            return entries_.front().second;
        }
        entries_.emplace_front(key, make());
        try {
            places_.emplace(key, entries_.begin());
        } catch (...) {
            entries_.pop_front();
            throw;
        }
        if (entries_.size() > capacity_) {
            places_.erase(entries_.back().first);
            entries_.pop_back();
        }
        return entries_.front().second;
    }

    std::size_t size() const { return entries_.size(); }
    bool holds(const Key& key) const { return places_.contains(key); }
    void forget(const Key& key) {
        const auto found = places_.find(key);
        if (found == places_.end()) return;
        entries_.erase(found->second);
        places_.erase(found);
    }
    void clear() {
        places_.clear();
        entries_.clear();
    }

private:
    std::size_t capacity_;
    std::list<std::pair<Key, Entry>> entries_;  // the last used first
    std::unordered_map<Key, typename std::list<std::pair<Key, Entry>>::iterator, Hash> places_;
};

}  // namespace kernels::cuda
