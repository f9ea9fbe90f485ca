#include <gtest/gtest.h>

#include "cuda/attention_graph.h"

namespace kernels::test {
namespace {

TEST(AttentionGraph, DiffersInAllThatMatters) {
    using cuda::AttentionGraph;
    Attention a;
    a.pass = AttentionPass::backward;
    a.batch = a.heads = a.kv_heads = a.queries = a.keys = a.qk_size = a.v_size = 8;
    a.q = a.k = a.v = a.y = a.dy = a.dq = a.dk = a.dv = {512, 64, 8};
    const AttentionGraph base = cuda::describe(a);
    const cuda::AttentionGraphHash hash;
    const auto differs = [&](auto change) {
        AttentionGraph other = base;
        change(other);
        return !(other == base) && hash(other) != hash(base);
    };
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.pass = AttentionPass::forward; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.dtype = DType::bf16; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.q.dims[2] = 9; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.k.dims[1] = 4; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.v.strides[0] = 9; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.y.strides[1] = 9; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.dy.strides[2] = 9; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.dq.strides[2] = 9; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.dk.strides[2] = 9; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.dv.strides[2] = 9; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.scale = 2; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.causal = true; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.bit_stable = false; }));
    EXPECT_TRUE(differs([](AttentionGraph& g) { g.device = 1; }));
}

TEST(AttentionGraph, IsOfTheForwardPassWithoutItsGradients) {
    Attention a;
    a.batch = a.heads = a.kv_heads = a.queries = a.keys = a.qk_size = a.v_size = 8;
    a.q = a.k = a.v = a.y = {512, 64, 8};
    Attention other = a;
    other.dq = {512, 64, 8};
    EXPECT_EQ(cuda::describe(a), cuda::describe(other));  // one plan for both
    a.batch = other.batch = 1;
    other.q.batch = 3;
    EXPECT_EQ(cuda::describe(a), cuda::describe(other));
    a.batch = 8;
    EXPECT_EQ(cuda::describe(a).logsumexp.dims, (std::array<std::int64_t, 4>{8, 8, 8, 1}));
}

}  // namespace
}  // namespace kernels::test
