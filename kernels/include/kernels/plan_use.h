#pragma once

#include <string>
#include <vector>

namespace kernels {

/// The names of the libraries' algorithms that compute on the calling thread while it lives, in
/// order, such as "cuDNN eng0_k2=3" or "oneDNN jit:avx512_core".
class PlanUseScope {
public:
    explicit PlanUseScope(std::vector<std::string>& used) noexcept;
    ~PlanUseScope();
    PlanUseScope(const PlanUseScope&) = delete;
    PlanUseScope& operator=(const PlanUseScope&) = delete;

private:
    std::vector<std::string>* before_;
};

/// Where the thread's innermost scope collects them; null outside all scopes, so that nobody makes
/// names that nobody reads.
std::vector<std::string>* plan_uses() noexcept;

}  // namespace kernels
