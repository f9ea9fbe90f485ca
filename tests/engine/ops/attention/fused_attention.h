#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "gradcheck.h"
#include "op_names.h"
#include "ops/attention/attention.h"
#include "ops/pointwise/compare.h"

// Shared by tests of the fused kernels of attention. Where a mask is given attention is composed:
// that is the other side of their comparisons.
namespace engine::test {

struct Heads {
    Tensor q, k, v;
};

inline Heads leaves(const Heads& h) {
    return {h.q.detach().set_requires_grad(true), h.k.detach().set_requires_grad(true),
            h.v.detach().set_requires_grad(true)};
}

inline Heads random_heads(DType dtype, std::int64_t queries = 5, std::int64_t keys = 7,
                          std::int64_t size = 8) {
    return {random_tensor({2, 4, queries, size}, dtype, 1),
            random_tensor({2, 4, keys, size}, dtype, 2),
            random_tensor({2, 4, keys, size}, dtype, 3)};
}

inline bool is_fused(const Heads& h, const AttentionOptions& options = {},
                     const Tensor& mask = {}) {
    const Names names;
    scaled_dot_product_attention(h.q, h.k, h.v, mask, options);
    EXPECT_NE(names.saw("scaled_dot_product_attention"), names.saw("attention_values"));
    return names.saw("scaled_dot_product_attention");
}

/// A mask: true where a query sees a key.
inline Tensor visible_keys(std::int64_t queries, std::int64_t keys, bool causal) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < queries; ++i)
        for (std::int64_t j = 0; j < keys; ++j) values.push_back(!causal || j <= i ? 1 : 0);
    return greater(Tensor::of(values, {queries, keys}), Tensor::scalar(0, DType::f32));
}

}  // namespace engine::test
