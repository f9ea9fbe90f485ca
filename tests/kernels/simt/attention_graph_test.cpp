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

TEST(AttentionGraph, OfTheForwardPassIgnoresGradientsAndTheStrideOfOneBatch) {
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

Attention small_attention(AttentionPass pass, std::int64_t queries, std::int64_t keys,
                          bool causal = false) {
    Attention a;
    a.pass = pass;
    a.batch = a.heads = a.kv_heads = 2;
    a.queries = queries;
    a.keys = keys;
    a.qk_size = a.v_size = 8;
    a.causal = causal;
    return a;
}

TEST(AttentionFaults, AreThoseOfTheCardTheVersionAndTheShape) {
    using cuda::is_faulty;
    constexpr auto forward = AttentionPass::forward, backward = AttentionPass::backward;
    constexpr std::size_t old = 91900, mended = 92600;
    for (const std::int64_t keys : {64, 192, 320}) {
        EXPECT_TRUE(is_faulty(small_attention(backward, 8, keys), 9, old)) << keys;
        EXPECT_FALSE(is_faulty(small_attention(backward, 8, keys), 9, mended)) << keys;
        EXPECT_FALSE(is_faulty(small_attention(backward, 8, keys), 8, old)) << keys;
        EXPECT_FALSE(is_faulty(small_attention(backward, 8, keys), 10, old)) << keys;
        EXPECT_FALSE(is_faulty(small_attention(forward, 8, keys), 9, old)) << keys;
        EXPECT_FALSE(is_faulty(small_attention(backward, keys, keys, true), 9, old)) << keys;
    }
    for (const std::int64_t keys : {63, 65, 128, 256})
        EXPECT_FALSE(is_faulty(small_attention(backward, 8, keys), 9, old)) << keys;
    for (const int major : {8, 9, 10})
        for (const std::size_t version : {old, mended}) {
            EXPECT_TRUE(is_faulty(small_attention(backward, 1, 128), major, version));
            EXPECT_FALSE(is_faulty(small_attention(forward, 1, 128), major, version));
            EXPECT_TRUE(is_faulty(small_attention(forward, 8, 1), major, version));
            Attention one = small_attention(forward, 1, 128);
            one.batch = one.heads = one.kv_heads = 1;
            EXPECT_TRUE(is_faulty(one, major, version));
        }
}

TEST(AttentionParts, AreTheLargestWhoseScratchFits) {
    Attention a = small_attention(AttentionPass::backward, 64, 64);
    a.batch = 6;
    a.heads = 12;
    a.kv_heads = 4;
    using cuda::AttentionParts;
    const auto parts = [&](std::size_t limit) {
        return cuda::parts_within(a, {6, 12}, /*scratch=*/7200, limit);  // 100 a head
    };
    EXPECT_EQ(parts(7200), (AttentionParts{6, 12}));
    EXPECT_EQ(parts(7199), (AttentionParts{3, 12})) << "5 does not divide 6";
    EXPECT_EQ(parts(1200), (AttentionParts{1, 12}));
    EXPECT_EQ(parts(1199), (AttentionParts{1, 6}));
    EXPECT_EQ(parts(300), (AttentionParts{1, 3}));
    EXPECT_EQ(parts(299), std::nullopt) << "a head of k and v serves three of q";
    const Attention part = cuda::part_of(a, {1, 6});
    EXPECT_EQ(part.batch, 1);
    EXPECT_EQ(part.heads, 6);
    EXPECT_EQ(part.kv_heads, 2);
    EXPECT_EQ(part.keys, 64);
}

}  // namespace
}  // namespace kernels::test
