#pragma once

#include <mutex>
#include <optional>
#include <unordered_map>

#include "tensor/tensor.h"

namespace engine {

/// The weight cache (autocast.md#weight-cache, 1.5). Key: the source's identity and the target
/// type, so that a nested region of the other 16-bit type has an entry of its own. An entry is
/// ignored once its source was freed or written to. Thread-safe.
class CastCache {
public:
    /// The one table of the process.
    static CastCache& process();

    std::optional<Tensor> find(const Tensor& source, DType to);
    void store(const Tensor& source, DType to, const Tensor& cast);
    void clear();
    std::size_t size();

private:
    struct Key {
        const TensorImpl* source;
        DType to;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return std::hash<const void*>()(key.source) * 31 + static_cast<std::size_t>(key.to);
        }
    };
    struct Entry {
        std::weak_ptr<TensorImpl> source;
        std::uint32_t version;
        Tensor cast;
    };

    std::mutex mutex_;
    std::unordered_map<Key, Entry, Hash> entries_;
};

}  // namespace engine
