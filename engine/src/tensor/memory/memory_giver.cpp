#include "tensor/memory/memory_giver.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "tensor/memory/memory_cache.h"

namespace engine {
namespace {

struct Givers {
    std::mutex mutex;  // not held while one is asked
    std::condition_variable answered;
    std::map<std::uint64_t, MemoryGiver*> by_number;
    std::uint64_t last = 0;
};
Givers& givers() {
    static auto* only = new Givers;  // as the caches, to the end of the process
    return *only;
}

}  // namespace

MemoryGiver::MemoryGiver(const Device& device, std::function<bool()> give)
    : device_(device),
      accounting_(accounting_of_thread()),
      give_(std::move(give)),
      owner_(std::this_thread::get_id()) {
    Givers& all = givers();
    const std::lock_guard lock(all.mutex);
    number_ = ++all.last;
    all.by_number[number_] = this;
}

MemoryGiver::~MemoryGiver() {
    Givers& all = givers();
    std::unique_lock lock(all.mutex);
    all.answered.wait(lock, [&] { return !asked_; });
    all.by_number.erase(number_);
}

void MemoryGiver::claim() {
    Givers& all = givers();
    std::unique_lock lock(all.mutex);
    all.answered.wait(lock, [&] { return !asked_; });
    owner_ = std::this_thread::get_id();
}

bool ask_for_memory(const Device& device, const MemoryAccounting* of) {
    if (is_recorded_on(device)) return false;
    // One that is being asked already allocates for its answer: it has nothing else to give.
    const auto can_be_asked = [&](const auto& each) {
        const MemoryGiver& giver = *each.second;
        return giver.owner_ == std::this_thread::get_id() && giver.device_ == device &&
               !giver.asked_ && (of == nullptr || giver.accounting_.get() == of);
    };
    Givers& all = givers();
    std::unique_lock lock(all.mutex);
    auto next = all.by_number.begin();
    while ((next = std::find_if(next, all.by_number.end(), can_be_asked)) != all.by_number.end()) {
        const auto [number, giver] = *next;
        giver->asked_ = true;
        lock.unlock();
        const bool gave = giver->give_();
        lock.lock();
        giver->asked_ = false;
        all.answered.notify_all();
        if (gave) return true;
        next = all.by_number.upper_bound(number);
    }
    return false;
}

}  // namespace engine
