#include "tensor/memory/reclaimable_cache.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "tensor/memory/memory_cache.h"

namespace engine {
namespace {

struct Caches {
    std::mutex mutex;  // not held while one is asked
    std::condition_variable answered;
    std::map<std::uint64_t, ReclaimableCache*> by_number;
    std::uint64_t last = 0;
};
Caches& all_caches() {
    static auto* only = new Caches;  // as the caches, to the end of the process
    return *only;
}

}  // namespace

ReclaimableCache::ReclaimableCache(const Device& device, std::function<bool()> give)
    : device_(device),
      accounting_(accounting_of_thread()),
      give_(std::move(give)),
      owner_(std::this_thread::get_id()) {
    Caches& all = all_caches();
    const std::lock_guard lock(all.mutex);
    number_ = ++all.last;
    all.by_number[number_] = this;
}

ReclaimableCache::~ReclaimableCache() {
    Caches& all = all_caches();
    std::unique_lock lock(all.mutex);
    all.answered.wait(lock, [&] { return !asked_; });
    all.by_number.erase(number_);
}

void ReclaimableCache::claim() {
    Caches& all = all_caches();
    std::unique_lock lock(all.mutex);
    all.answered.wait(lock, [&] { return !asked_; });
    owner_ = std::this_thread::get_id();
}

bool reclaim(const Device& device, const MemoryAccounting* of) {
    if (is_recorded_on(device)) return false;
    // One that is being asked already allocates for its answer: it has nothing else to give.
    const auto can_be_asked = [&](const auto& each) {
        const ReclaimableCache& cache = *each.second;
        return cache.owner_ == std::this_thread::get_id() && cache.device_ == device &&
               !cache.asked_ && (of == nullptr || cache.accounting_.get() == of);
    };
    Caches& all = all_caches();
    std::unique_lock lock(all.mutex);
    auto next = all.by_number.begin();
    while ((next = std::find_if(next, all.by_number.end(), can_be_asked)) != all.by_number.end()) {
        const auto [number, cache] = *next;
        cache->asked_ = true;
        lock.unlock();
        const bool gave = cache->give_();
        lock.lock();
        cache->asked_ = false;
        all.answered.notify_all();
        if (gave) return true;
        next = all.by_number.upper_bound(number);
    }
    return false;
}

}  // namespace engine
