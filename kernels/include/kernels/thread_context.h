#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/plan_choice.h"

namespace kernels {

class LibraryFallbacks;

/// While it lives, a member of the calling thread's context, C::of_thread(), has another value.
/// Scopes nest.
template <auto Member>
class ContextScope;
template <typename C, typename T, T C::*Member>
class ContextScope<Member> {
public:
    explicit ContextScope(T value) noexcept
        : before_(std::exchange(C::of_thread().*Member, std::move(value))) {}
    ~ContextScope() { C::of_thread().*Member = std::move(before_); }
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

private:
    T before_;
};

/// The calling thread's choices and records about the libraries' algorithms.
struct LibraryContext {
    PlanChoice plans{};
    /// Collects the names of the algorithms that compute, in order, such as "cuDNN eng0_k2=3" or
    /// "oneDNN jit:avx512_core". Null: nobody makes names that nobody reads.
    std::vector<std::string>* used_plans = nullptr;
    LibraryFallbacks* fallbacks = nullptr;  ///< records them; null: nobody does

    static LibraryContext& of_thread() noexcept;
};

inline std::vector<std::string>* plan_uses() noexcept {
    return LibraryContext::of_thread().used_plans;
}

using PlanChoiceScope = ContextScope<&LibraryContext::plans>;
using PlanUseScope = ContextScope<&LibraryContext::used_plans>;
using LibraryFallbackScope = ContextScope<&LibraryContext::fallbacks>;

}  // namespace kernels
