#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "autograd/backward.h"
#include "fused_attention.h"
#include "gradcheck.h"
#include "kernels/attention_problem.h"
#include "ops/attention/attention.h"
#include "ops/shape/view.h"
#include "support/element.h"
#include "tensor/memory/memory.h"

// Attention by the CPU's kernel.
namespace engine {
namespace {

using kernels::test::attention::expect_within;
using kernels::test::attention::Problem;
using kernels::test::attention::Sizes;
using test::Heads;
using test::is_fused;
using test::leaves;
using test::random_heads;
using test::visible_keys;

AttentionOptions dropping(AttentionOptions options = {}) {
    options.dropout_p = 0.3;
    options.random = RandomStream(3, StreamId::dropout);
    options.random_offset = 1001;
    return options;
}

/// The result and the gradients, concatenated. Every NaN becomes the same value.
std::vector<double> results(const Heads& h, const Tensor& y) {
    const Tensor dy = random_tensor(y.shape(), y.dtype(), 4);
    backward({&y, 1}, {&dy, 1});
    std::vector<double> out;
    for (const Tensor& each : {y, h.q.grad(), h.k.grad(), h.v.grad()})
        for (const double value : each.values()) out.push_back(std::isnan(value) ? 1e300 : value);
    return out;
}

std::vector<double> found(const Heads& heads, AttentionOptions options, bool composed) {
    const Heads h = leaves(heads);
    const bool causal = std::exchange(options.is_causal, options.is_causal && !composed);
    const Tensor mask = composed ? visible_keys(h.q.size(2), h.k.size(2), causal) : Tensor();
    EXPECT_NE(is_fused(h, options, mask), composed);
    return results(h, scaled_dot_product_attention(h.q, h.k, h.v, mask, options));
}

class CpuAttention : public ::testing::Test {
protected:
    void SetUp() override {
        if (default_device().kind != Device::Kind::cpu) GTEST_SKIP() << "not on a CPU";
    }
};

TEST_F(CpuAttention, IsTakenWithoutAMaskAndInEveryTypeButF64) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        EXPECT_TRUE(is_fused(random_heads(dtype)));
        EXPECT_TRUE(is_fused(random_heads(dtype), dropping({.is_causal = true, .scale = -0.5})));
        EXPECT_FALSE(is_fused(random_heads(dtype), {}, visible_keys(5, 7, false)));
    }
    EXPECT_FALSE(is_fused(random_heads(DType::f64)));
    EXPECT_FALSE(is_fused(random_heads(DType::f16), {.enable_gqa = true}));
    EXPECT_FALSE(is_fused(random_heads(DType::f16, 5, 0)));
    EXPECT_FALSE(is_fused(random_heads(DType::f16, 0, 7)));
}

/// With operands this small every sum is computed in the same order, so the bits must be equal.
TEST_F(CpuAttention, HasTheComposedFormsBits) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const bool causal : {false, true})
            for (const Heads& h : {random_heads(dtype), random_heads(dtype, 9, 9)}) {
                const AttentionOptions plain{.is_causal = causal, .scale = 0.7};
                EXPECT_EQ(found(h, plain, false), found(h, plain, true)) << causal;
                EXPECT_EQ(found(h, dropping(plain), false), found(h, dropping(plain), true));
            }
}

TEST_F(CpuAttention, HasTheComposedFormsInfinitiesAndNaNs) {
    for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")})
        for (const int part : {0, 1, 2}) {
            const Heads h = random_heads(DType::f16, 6, 6);
            set_element(part == 0 ? h.q : part == 1 ? h.k : h.v, 21, value);
            EXPECT_EQ(found(h, {}, false), found(h, {}, true));
            // An explicit mask is added to the scores, NaN included; a causal mask replaces them.
            // On a CPU the entry of this name is the composed form.
            const Heads causal = leaves(h);
            const Tensor y = scaled_dot_product_flash_attention(causal.q, causal.k, causal.v,
                                                                {.is_causal = true})[0];
            EXPECT_EQ(found(h, {.is_causal = true}, false), results(causal, y));
        }
}

/// Several blocks of queries, so that the gradients of k and v are summed over blocks.
TEST_F(CpuAttention, OfManyKeysStaysWithinTheBoundOfF64) {
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const Sizes& s : {Sizes{1, 2, 2, 40, 2000, 8, 8}, {1, 2, 2, 300, 300, 8, 16, true}}) {
            const Problem p(dtype, s);
            const Heads h = leaves({Tensor::of(p.q, {1, 2, s.queries, s.qk_size}, dtype),
                                    Tensor::of(p.k, {1, 2, s.keys, s.qk_size}, dtype),
                                    Tensor::of(p.v, {1, 2, s.keys, s.v_size}, dtype)});
            const Tensor y = scaled_dot_product_attention(
                h.q, h.k, h.v, {}, {.is_causal = s.causal, .scale = s.scale});
            const Tensor dy = Tensor::of(p.dy, y.shape(), dtype);
            backward({&y, 1}, {&dy, 1});
            expect_within(y.values(), p.y, "y");
            expect_within(h.q.grad().values(), p.dq, "dq");
            expect_within(h.k.grad().values(), p.dk, "dk");
            expect_within(h.v.grad().values(), p.dv, "dv");
        }
}

/// A gradient computed with a graph is composed from matrix products.
TEST_F(CpuAttention, HasTheComposedFormsSecondDerivatives) {
    std::vector<double> results[2];
    for (const bool composed : {false, true}) {
        const Heads h = leaves(random_heads(DType::f32, 6, 6));
        const Tensor y = scaled_dot_product_attention(
            h.q, h.k, h.v, composed ? visible_keys(6, 6, true) : Tensor(),
            {.is_causal = !composed});
        const Tensor dy = random_tensor(y.shape(), DType::f32, 4).set_requires_grad(true);
        const Tensor inputs[] = {h.q, h.k, h.v, dy};
        const TensorList first = grad({&y, 1}, {inputs, 3}, {&dy, 1}, {.create_graph = true});
        TensorList weights;
        for (const auto& g : first)
            weights.push_back(
                random_tensor(g.shape(), DType::f32, static_cast<std::uint32_t>(weights.size())));
        for (const auto& g : grad(first, inputs, weights))
            for (const double x : g.values()) results[composed].push_back(x);
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST_F(CpuAttention, TakesHeadsWithinPositionsAsTheyLie) {
    const Tensor all = random_tensor({2, 5, 3 * 4 * 8}, DType::bf16, 1);
    const auto part = [&](std::int64_t i) {
        return transpose(reshape(narrow(all, -1, i * 32, 32), {2, 5, 4, 8}), 1, 2);
    };
    const Heads apart{part(0), part(1), part(2)};
    const Heads dense{contiguous(apart.q), contiguous(apart.k), contiguous(apart.v)};
    EXPECT_EQ(found(apart, {}, false), found(dense, {}, false));
    const Tensor y = scaled_dot_product_attention(apart.q, apart.k, apart.v);
    EXPECT_TRUE(transpose(y, 1, 2).is_contiguous());
}

TEST_F(CpuAttention, KeepsNoScores) {
    const Heads h = leaves(random_heads(DType::f32, 200, 200));
    const auto accounting = std::make_shared<MemoryAccounting>();
    const AccountingScope scope(accounting);
    const Tensor y = scaled_dot_product_attention(h.q, h.k, h.v, {}, dropping());
    const std::int64_t scores = 2 * 4 * 200 * 200 * 4;
    EXPECT_LT(accounting->peak(), scores / 10);
}

}  // namespace
}  // namespace engine
