#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace kernels::cpu {

/// The shape that a primitive depends on, as numbers; unused words are 0.
struct ShapeKey {
    std::array<std::int64_t, 20> words{};
    bool operator==(const ShapeKey&) const = default;
};

/// Entries by key, for one thread. A shape seen twice running costs a comparison.
template <class Entry>
class ShapeCache {
public:
    /// A training run has some dozens of shapes. Only a sweep over shapes fills the cache, which is
    /// then cleared.
    static constexpr std::size_t capacity = 512;

    /// The entry of `key`, made by make() at first. Valid until the next call.
    template <class Make>
    Entry& get(const ShapeKey& key, const Make& make) {
        if (last_ && last_->first == key) return last_->second;
        auto found = entries_.find(key);
        if (found == entries_.end()) {
            Entry made = make();
            if (entries_.size() >= capacity) {
                last_ = nullptr;
                entries_.clear();
            }
            found = entries_.emplace(key, std::move(made)).first;
        }
        last_ = &*found;
        return found->second;
    }
    std::size_t size() const { return entries_.size(); }

private:
    struct Hash {
        std::size_t operator()(const ShapeKey& key) const noexcept {
            std::uint64_t hash = 0xcbf29ce484222325u;
            for (const std::int64_t word : key.words) {
                hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x100000001b3u;
                hash ^= hash >> 29;
            }
            return static_cast<std::size_t>(hash);
        }
    };
    using Entries = std::unordered_map<ShapeKey, Entry, Hash>;

    Entries entries_;
    typename Entries::value_type* last_ = nullptr;
};

}  // namespace kernels::cpu
