#pragma once

#include "ops/attention/attention.h"
#include "tensor/module_scope.h"

namespace engine {

/// For lessons. While it lives, one module of this thread computes attention by hand in the low
/// type, with its scores multiplied by 300 until the largest exceeds the fp16 range: a forward
/// overflow that fp32 survives. In bf16 and fp32 the scores stay finite.
class ScaledScores {
public:
    /// Applies to the module of this name and those inside it; "": the first that computes
    /// attention.
    explicit ScaledScores(std::string module) : module_(std::move(module)) {}

    /// The innermost one of this thread takes the call that is about to run.
    static bool take_call();
    /// Whether a module was found.
    bool met() const { return met_; }

private:
    bool takes(const std::vector<std::string>& open);

    std::string module_;
    bool met_ = false;
    ContextScope<&ComputeContext::scaled_scores> scope_{this};
};

/// scaled_dot_product_attention() with such scores. Without dropout and masks but the causal one.
Tensor attention_of_scaled_scores(const Tensor& q, const Tensor& k, const Tensor& v,
                                  bool is_causal);

}  // namespace engine
