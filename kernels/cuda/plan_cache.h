#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "cuda/lru_cache.h"
#include "cuda/plan_failure.h"
#include "cuda/recording.h"
#include "cuda/workspace.h"
#include "kernels/cuda_libraries.h"

namespace kernels::cuda {

/// Result of making a plan.
template <class Plan>
struct MadePlan {
    std::shared_ptr<Plan> plan;  ///< null: the complaint says why
    PlanComplaint complaint;
};

/// A library's plans by description. If one cannot be made, the run falls back if possible, and the
/// user gets a warning:
///
/// - An unsupported plan is recorded, and not tried again.
/// - The first failure, and any reported out-of-memory, is treated as memory pressure: cached
///   memory is released and the plan is made once more, even by an engine that is not the first
///   choice.
/// - If it is still out of memory, LibraryOutOfMemory is thrown: the fallback (the plain loops, a
///   score of each query and key) needs more memory or many times longer, and a smaller batch is
///   better than either. The next call tries again.
/// - Any other failure gives no plan for this call, and the caller the reason: a slow run is better
///   than none. The next call tries again, then every second, fourth, ..., 512th one, since each
///   failed attempt costs time. A captured step keeps what it was captured with.
///
/// Not for several threads at a time.
template <class Key, class Plan, class Hash>
class PlanCache {
public:
    explicit PlanCache(std::size_t capacity) : entries_(capacity) {}

    /// Null if there is none for now; then `why`, if given, has the library's words, which are
    /// empty where it simply has none. make(last_try) gives a MadePlan: at the last try it takes
    /// what can be had.
    template <class Make>
    std::shared_ptr<Plan> get(const Key& key, const Make& make, std::string* why = nullptr) {
        Entry& entry = entries_.get(key, [] { return Entry{}; });
        if (!entry.plan && !entry.settled) {
            if (entry.calls_to_wait > 0)
                --entry.calls_to_wait;
            else
                ask(entry, make);
        }
        if (!entry.plan && why) *why = entry.words;
        return entry.plan;
    }

    /// Gets a plan for work that is given to the stream next: a graph that records it holds the
    /// plan.
    template <class Make>
    std::shared_ptr<Plan> use(const Key& key, const Make& make, Stream stream, std::string* why) {
        auto plan = get(key, make, why);
        if (plan) keep_if_recorded(plan, stream);
        return plan;
    }

    /// Makes it the plan of the key.
    void put(const Key& key, std::shared_ptr<Plan> plan) {
        Entry& entry = entries_.get(key, [] { return Entry{}; });
        entry = Entry{};
        entry.plan = std::move(plan);
    }

    void forget(const Key& key) { entries_.forget(key); }
    void clear() { entries_.clear(); }

private:
    struct Entry {
        std::shared_ptr<Plan> plan;
        bool settled = false;  ///< the library has none
        int failures = 0, calls_to_wait = 0;
        std::string words;
    };

    template <class Make>
    void ask(Entry& entry, const Make& make) {
        // One that has failed with every engine before takes any that can be had.
        MadePlan<Plan> made = make(entry.failures > 0);
        const PlanFailure kind = made.complaint.kind;
        const bool may_be_memory =
            kind == PlanFailure::memory || (kind != PlanFailure::unsupported && !entry.failures);
        if (!made.plan && may_be_memory) {
            trim_caches();
            made = make(true);
        }
        if (!made.plan && made.complaint.kind == PlanFailure::memory)
            throw LibraryOutOfMemory(made.complaint.words);
        entry.plan = std::move(made.plan);
        entry.words = std::move(made.complaint.words);
        entry.settled = made.complaint.kind == PlanFailure::unsupported;
        if (entry.plan || entry.settled) return;
        entry.calls_to_wait = (1 << std::min(entry.failures++, 9)) - 1;
    }

    LruCache<Key, Entry, Hash> entries_;
};

}  // namespace kernels::cuda
