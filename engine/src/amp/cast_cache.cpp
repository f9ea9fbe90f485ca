#include "amp/cast_cache.h"

namespace engine {

CastCache& CastCache::process() {
    static CastCache cache;
    return cache;
}

std::optional<Tensor> CastCache::find(const Tensor& source, DType to) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find({source.impl().get(), to});
    if (found == entries_.end()) return std::nullopt;
    const Entry& entry = found->second;
    if (entry.source.lock() != source.impl() || entry.version != source.version())
        return std::nullopt;
    return entry.cast;
}

void CastCache::store(const Tensor& source, DType to, const Tensor& cast) {
    const std::lock_guard lock(mutex_);
    entries_.insert_or_assign(Key{source.impl().get(), to},
                              Entry{source.impl(), source.version(), cast});
}

void CastCache::clear() {
    std::unordered_map<Key, Entry, Hash>
        dropped;  // destroyed after the lock: a cast may own a graph
    const std::lock_guard lock(mutex_);
    dropped.swap(entries_);
}

std::size_t CastCache::size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace engine
