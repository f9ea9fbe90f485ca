#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "cuda/plan_cache.h"
#include "simt/libraries.h"

namespace kernels::simt {

/// Stands for the kernels that a library compiles for a plan and unloads with it.
class LibraryPlan {
public:
    LibraryPlan();
    ~LibraryPlan();
    LibraryPlan(const LibraryPlan&) = delete;
    LibraryPlan& operator=(const LibraryPlan&) = delete;
    std::weak_ptr<void> kernels() const { return kernels_; }

private:
    std::shared_ptr<void> kernels_ = std::make_shared<char>();  // until the destructor has waited
};

/// The plans of a simulated library, cached like those of the real one. New settings clear the
/// cache. `supports` decides whether the library supports a description.
template <class Key, class Hash>
class LibraryPlans {
public:
    template <class Supports>
    std::shared_ptr<LibraryPlan> get(const Key& key, const Supports& supports, std::string* why) {
        const std::lock_guard lock(mutex_);
        forget_other_settings();
        return plans_.get(key, maker(supports), why);
    }
    template <class Supports>
    std::shared_ptr<LibraryPlan> use(const Key& key, const Supports& supports, Stream stream) {
        const std::lock_guard lock(mutex_);
        forget_other_settings();
        return plans_.use(key, maker(supports), stream, nullptr);
    }

    void forget(const Key& key) {
        const std::lock_guard lock(mutex_);
        plans_.forget(key);
    }

private:
    void forget_other_settings() {
        if (const int now = library_generation(); now != generation_) {
            plans_.clear();
            generation_ = now;
        }
    }
    template <class Supports>
    static auto maker(const Supports& supports) {
        return [&](bool) -> cuda::MadePlan<LibraryPlan> {
            if (!supports()) return {};
            if (const std::string text = plan_problem(); !text.empty())
                return {nullptr, cuda::read_complaint(text)};
            return {std::make_shared<LibraryPlan>(), {}};
        };
    }

    std::mutex mutex_;
    cuda::PlanCache<Key, LibraryPlan, Hash> plans_{512};
    int generation_ = 0;
};

/// Wraps work that runs a plan's kernels: it throws if they have been unloaded.
template <class Work>
auto with_kernels_of(const std::shared_ptr<LibraryPlan>& plan, Work work) {
    return [kernels = plan->kernels(), work] {
        if (kernels.expired()) throw std::logic_error("a kernel of a plan that is gone");
        work();
    };
}

}  // namespace kernels::simt
