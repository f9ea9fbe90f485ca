#include <gtest/gtest.h>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "fused_attention.h"
#include "gradcheck.h"
#include "kernels/attention_problem.h"
#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "op_names.h"
#include "ops/attention/attention.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "tensor/cast.h"
#include "tensor/memory/memory.h"
#include "tensor/memory/memory_pool.h"
#include "tensor/restore.h"

// Attention by the device's fused kernel.
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

class FusedAttention : public ::testing::Test {
protected:
    void SetUp() override {
        if (default_device().kind == Device::Kind::cpu) GTEST_SKIP() << "not on a CUDA device";
        if (!is_fused(random_heads(DType::f16))) GTEST_SKIP() << "no fused kernel on this device";
    }
};

TEST_F(FusedAttention, IsTakenWhereItsRulesAllowAndNowhereElse) {
    EXPECT_TRUE(is_fused(random_heads(DType::bf16)));
    EXPECT_TRUE(is_fused(random_heads(DType::f16, 6, 6), {.is_causal = true}));
    EXPECT_FALSE(is_fused(random_heads(DType::f16, 5, 7), {.is_causal = true}));
    EXPECT_FALSE(is_fused(random_heads(DType::f32)));
    EXPECT_FALSE(is_fused(random_heads(DType::f64)));
    EXPECT_FALSE(is_fused(random_heads(DType::f16, 5, 7, 12)));
    EXPECT_FALSE(is_fused(random_heads(DType::f16), {}, visible_keys(5, 7, false)));
    EXPECT_FALSE(is_fused(random_heads(DType::f16), {.scale = -0.5}));
    EXPECT_FALSE(is_fused(random_heads(DType::f16), {.scale = 0.0}));
    EXPECT_FALSE(is_fused(random_heads(DType::f16),
                          {.dropout_p = 0.5, .random = RandomStream(3, StreamId::dropout)}));
    // One key and the gradient of one query: the library computes them wrongly.
    EXPECT_FALSE(is_fused(random_heads(DType::f16, 5, 1)));
    EXPECT_TRUE(is_fused(random_heads(DType::f16, 1, 7)));
    EXPECT_FALSE(is_fused(leaves(random_heads(DType::f16, 1, 7))));
    EXPECT_FALSE(is_fused(random_heads(DType::f16, 5, 0)));
    EXPECT_FALSE(is_fused(random_heads(DType::f16, 0, 7)));
    const AutocastRegion region(here, true, DType::bf16);
    const auto inside = region.enter();
    EXPECT_TRUE(is_fused(random_heads(DType::f32)));
}

Heads operands(const Problem& p) {
    const Sizes& s = p.s;
    return {Tensor::of(p.q, {s.batch, s.heads, s.queries, s.qk_size}, p.dtype),
            Tensor::of(p.k, {s.batch, s.kv_heads, s.keys, s.qk_size}, p.dtype),
            Tensor::of(p.v, {s.batch, s.kv_heads, s.keys, s.v_size}, p.dtype)};
}

// Both stay within the bound that attention_problem.h derives, which holds for either form.
TEST_F(FusedAttention, AndTheComposedFormAgreeWithF64InResultsAndGradients) {
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const Sizes& s : {Sizes{2, 3, 3, 9, 9, 16, 8, true, 0.3},
                               {1, 4, 2, 7, 20, 8, 8},
                               {2, 1, 1, 2, 33, 8, 16},
                               {1, 2, 1, 40, 40, 64, 64, true, 0.125}}) {
            const Problem p(dtype, s);
            for (const bool composed : {false, true}) {
                const Heads h = leaves(operands(p));
                const AttentionOptions options{.is_causal = s.causal && !composed,
                                               .scale = s.scale,
                                               .enable_gqa = s.heads != s.kv_heads};
                const Tensor mask = composed ? visible_keys(s.queries, s.keys, s.causal) : Tensor();
                ASSERT_NE(is_fused(h, options, mask), composed);
                const Tensor y = scaled_dot_product_attention(h.q, h.k, h.v, mask, options);
                const Tensor dy = Tensor::of(p.dy, y.shape(), dtype);
                backward({&y, 1}, {&dy, 1});
                expect_within(y.values(), p.y, composed ? "composed y" : "y");
                expect_within(h.q.grad().values(), p.dq, composed ? "composed dq" : "dq");
                expect_within(h.k.grad().values(), p.dk, composed ? "composed dk" : "dk");
                expect_within(h.v.grad().values(), p.dv, composed ? "composed dv" : "dv");
            }
        }
}

// A gradient computed with a graph is composed from matrix products, whether or not the result was
// fused.
TEST_F(FusedAttention, HasTheComposedFormsSecondDerivatives) {
    for (const DType dtype : {DType::f16, DType::bf16})
        for (const bool causal : {false, true}) {
            std::vector<double> found[2];
            for (const bool composed : {false, true}) {
                const Heads h = leaves(random_heads(dtype, 6, 6));
                const Tensor y = scaled_dot_product_attention(
                    h.q, h.k, h.v, composed ? visible_keys(6, 6, causal) : Tensor(),
                    {.is_causal = causal && !composed});
                Tensor dy = random_tensor(y.shape(), dtype, 4);
                dy.set_requires_grad(true);
                const Tensor inputs[] = {h.q, h.k, h.v, dy};
                const TensorList first =
                    grad({&y, 1}, {inputs, 3}, {&dy, 1}, {.create_graph = true});
                TensorList weights;
                for (const auto& g : first)
                    weights.push_back(random_tensor(g.shape(), dtype,
                                                    static_cast<std::uint32_t>(weights.size())));
                for (const auto& g : first)
                    for (const double x : g.values()) found[composed].push_back(x);
                for (const auto& g : grad(first, inputs, weights))
                    for (const double x : g.values()) found[composed].push_back(x);
            }
            EXPECT_EQ(found[0], found[1]);
        }
}

TEST_F(FusedAttention, GivesTheGradientsThatAreWantedAlone) {
    const Heads all = leaves(random_heads(DType::f16));
    backward(sum(scaled_dot_product_attention(all.q, all.k, all.v)));
    Heads one = random_heads(DType::f16);
    one.k.set_requires_grad(true);
    for (const bool graph : {false, true}) {
        one.k.set_grad({});
        backward(sum(scaled_dot_product_attention(one.q, one.k, one.v)), {.create_graph = graph});
        ASSERT_TRUE(one.k.grad().defined());
        // Without a graph the kernel computes the gradient; with one it is composed.
        EXPECT_EQ(one.k.grad().values() == all.k.grad().values(), !graph);
        EXPECT_FALSE(one.q.grad().defined());
    }
    one.k.set_grad({});  // the gradient's graph holds k, which holds the gradient
}

TEST_F(FusedAttention, IsOneNodeThatKeepsWhatItReadAndOneKernelEachWay) {
    const Heads h = leaves(random_heads(DType::f16));
    const std::int64_t before = kernels::cuda::call_counts().launches;
    const Tensor y = scaled_dot_product_attention(h.q, h.k, h.v);
    EXPECT_EQ(kernels::cuda::call_counts().launches, before + 1);
    const Tensor dy = random_tensor(y.shape(), DType::f16, 4);
    const Tensor inputs[] = {h.q, h.k, h.v};
    const std::int64_t between = kernels::cuda::call_counts().launches;
    const TensorList once = grad({&y, 1}, inputs, {&dy, 1}, {.retain_graph = true});
    EXPECT_EQ(kernels::cuda::call_counts().launches, between + 1);
    const TensorList twice = grad({&y, 1}, inputs, {&dy, 1}, {.retain_graph = true});
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(once[i].values(), twice[i].values());
    h.k.bump_version();
    EXPECT_THROW(grad({&y, 1}, inputs, {&dy, 1}), Error);
}

TEST_F(FusedAttention, TakesHeadsWithinPositionsAsTheyLie) {
    const Tensor all = random_tensor({2, 5, 3 * 4 * 8}, DType::f16, 1);
    const auto part = [&](std::int64_t i) {
        return transpose(reshape(narrow(all, -1, i * 32, 32), {2, 5, 4, 8}), 1, 2);
    };
    const std::int64_t before = kernels::cuda::call_counts().launches;
    const Tensor y = scaled_dot_product_attention(part(0), part(1), part(2));
    EXPECT_EQ(kernels::cuda::call_counts().launches, before + 1);  // and no copy
    EXPECT_TRUE(transpose(y, 1, 2).is_contiguous());
    EXPECT_EQ(y.values(), scaled_dot_product_attention(contiguous(part(0)), contiguous(part(1)),
                                                       contiguous(part(2)))
                              .values());
}

TEST_F(FusedAttention, CopiesWhatItsKernelCannotLoad) {
    const Heads h = random_heads(DType::bf16);
    const auto shifted = [](const Tensor& x) {
        const Tensor wide = cat({narrow(x, 3, 0, 1), x}, 3);  // rows of 9, and a first element
        return narrow(wide, 3, 1, 8).detach().set_requires_grad(true);
    };
    const Heads plain = leaves(h), odd{shifted(h.q), shifted(h.k), shifted(h.v)};
    ASSERT_TRUE(is_fused(odd));
    const Tensor y = scaled_dot_product_attention(plain.q, plain.k, plain.v);
    const Tensor z = scaled_dot_product_attention(odd.q, odd.k, odd.v);
    EXPECT_EQ(z.values(), y.values());
    const Tensor dy = random_tensor(y.shape(), DType::bf16, 4);
    backward({&y, 1}, {&dy, 1});
    backward({&z, 1}, {&dy, 1});
    EXPECT_EQ(odd.q.grad().values(), plain.q.grad().values());
    EXPECT_EQ(odd.k.grad().values(), plain.k.grad().values());
    EXPECT_EQ(odd.v.grad().values(), plain.v.grad().values());
}

TEST_F(FusedAttention, TakesEveryRankAndBroadcastHeads) {
    const Heads h = random_heads(DType::f16);
    const auto values = scaled_dot_product_attention(h.q, h.k, h.v).values();
    const auto as = [&](const Shape& lead) {
        const auto shaped = [&](const Tensor& x) {
            Shape shape = lead;
            shape.push_back(x.size(2));
            shape.push_back(x.size(3));
            return reshape(x, shape);
        };
        const Heads other{shaped(h.q), shaped(h.k), shaped(h.v)};
        EXPECT_TRUE(is_fused(other));
        const Tensor y = scaled_dot_product_attention(other.q, other.k, other.v);
        EXPECT_EQ(y.rank(), lead.rank() + 2);
        return y.values();
    };
    EXPECT_EQ(as({8}), values);
    EXPECT_EQ(as({2, 2, 2}), values);
    const auto first = [](const Tensor& x) {
        return reshape(narrow(x, 0, 0, 1), {4, x.size(2), 8});
    };
    EXPECT_TRUE(is_fused({first(h.q), first(h.k), first(h.v)}));
    const Heads shared{h.q, first(h.k), first(h.v)};
    ASSERT_TRUE(is_fused(shared));
    EXPECT_EQ(scaled_dot_product_attention(shared.q, shared.k, shared.v).values(),
              scaled_dot_product_attention(h.q, contiguous(expand(first(h.k), h.k.shape())),
                                           contiguous(expand(first(h.v), h.v.shape())))
                  .values());
    const auto matrix = [&](const Tensor& x) {
        return reshape(narrow(first(x), 0, 0, 1), {x.size(2), 8});
    };
    ASSERT_TRUE(is_fused({matrix(h.q), matrix(h.k), matrix(h.v)}));
}

TEST_F(FusedAttention, GivesItsLogsumexpToTheEntryOfThatName) {
    const Problem p(DType::f16, {2, 3, 3, 9, 9, 16, 16, true});
    const Heads h = leaves(operands(p));
    const AttentionOptions options{.is_causal = true, .scale = p.s.scale};
    const Names names;
    const TensorList made = scaled_dot_product_flash_attention(h.q, h.k, h.v, options);
    EXPECT_TRUE(names.saw("_scaled_dot_product_flash_attention"));
    EXPECT_FALSE(names.saw("attention_values"));
    EXPECT_FALSE(made[1].requires_grad());
    expect_within(made[1].values(), p.logsumexp, "logsumexp");
    EXPECT_EQ(made[0].values(), scaled_dot_product_attention(h.q, h.k, h.v, {}, options).values());
    const Tensor dy = Tensor::of(p.dy, made[0].shape(), p.dtype);
    backward({made.data(), 1}, {&dy, 1});
    expect_within(h.k.grad().values(), p.dk, "dk");
}

TEST_F(FusedAttention, AccountsItsScratchAsWorkspaceAndGivesItBack) {
    const auto accounting = std::make_shared<MemoryAccounting>();
    const AccountingScope scope(accounting);
    const Heads h = leaves(random_heads(DType::f16));
    const Tensor y = scaled_dot_product_attention(h.q, h.k, h.v);
    backward(sum(y));
    EXPECT_EQ(accounting->bytes(MemoryUse::workspace), 0);
}

TEST_F(FusedAttention, IsRecordedInAGraphAndReplayed) {
    const Heads h = leaves(random_heads(DType::f16));
    const auto step = [&] {
        const Tensor y = scaled_dot_product_attention(h.q, h.k, h.v);
        const Tensor inputs[] = {h.q, h.k, h.v};
        return grad({&y, 1}, inputs, {&y, 1});
    };
    step();  // makes the plans
    const auto pool = std::make_shared<MemoryPool>(default_device());
    TensorList found;
    std::unique_ptr<kernels::cuda::Graph> graph;
    {
        const PoolScope inside(pool);
        kernels::cuda::begin_capture(current_stream());
        found = step();
        graph = kernels::cuda::end_capture(current_stream());
    }
    EXPECT_EQ(graph->nodes(), 2);
    for (const std::uint32_t seed : {11u, 12u}) {
        const Tensor next = random_tensor(h.k.shape(), DType::f16, seed);
        h.k.copy_from_host(next.copy_to(Device{}).data());
        graph->launch(current_stream());
        const auto replayed = found[1].values();
        EXPECT_EQ(replayed, step()[1].values());
    }
}

}  // namespace
}  // namespace engine
