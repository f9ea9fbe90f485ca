#pragma once

#include "ops/attention/attention.h"
#include "nn/layers.h"

namespace engine {

/// PyTorch's MultiheadAttention with one size for queries, keys and values: in_proj_weight (3
/// width, width), Xavier uniform; in_proj_bias and out_proj.bias 0; out_proj.weight as Linear's. x
/// (..., sequence, width): always batch first.
struct MultiheadAttention {
    ModuleName module, out_module;
    std::int64_t num_heads = 1;
    double dropout = 0;
    Tensor in_proj_weight, in_proj_bias, out_weight, out_bias;
    MultiheadAttention() = default;
    /// num_heads divides width, else Error(value).
    MultiheadAttention(TensorRegistry& registry, const std::string& name, std::int64_t width,
                       std::int64_t num_heads_, double dropout_ = 0, bool has_biases = true);

    struct Call {
        Tensor mask = {};  ///< as scaled_dot_product_attention's, over (..., heads, L, S)
        bool is_causal = false;
        bool training = false;  ///< dropout of the weights
        std::optional<RandomSource> random = {};
        std::uint64_t random_offset = 0;
    };
    Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                      const Call& call) const;
    /// Attention of x to itself.
    Tensor operator()(const Tensor& x, const Call& call) const;

private:
    Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Call& call) const;
};

}  // namespace engine
