#pragma once

#include "attention/attention.h"
#include "core/module_scope.h"

namespace engine {

/// While it lives, one module of this thread computes attention by hand in the type that the region
/// computes in, with its scores multiplied by 300 until the largest is beyond fp16: a forward
/// overflow that fp32 survives. For lessons. In bf16 and fp32 the scores stay finite.
class ScaledScores {
public:
    /// Of the module of this name or inside it; "": of the first that computes attention.
    explicit ScaledScores(std::string module);
    ~ScaledScores();
    ScaledScores(const ScaledScores&) = delete;
    ScaledScores& operator=(const ScaledScores&) = delete;

    /// The innermost one of this thread takes the call that is about to run.
    static bool take_call();
    /// Whether a module was found.
    bool met() const { return met_; }

private:
    bool takes(const std::vector<std::string>& open);

    std::string module_;
    bool met_ = false;
    ScaledScores* outer_;
};

/// scaled_dot_product_attention() with such scores. Without dropout and masks but the causal one.
Tensor attention_of_scaled_scores(const Tensor& q, const Tensor& k, const Tensor& v,
                                  bool is_causal);

}  // namespace engine
