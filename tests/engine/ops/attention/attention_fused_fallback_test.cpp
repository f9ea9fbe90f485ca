#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "engine/base/error.h"
#include "kernels/attention_problem.h"
#include "kernels/device_error.h"
#include "kernels/library_fallback.h"
#include "kernels/thread_context.h"
#include "op_names.h"
#include "ops/attention/attention.h"
#include "simt/libraries.h"
#include "tensor/memory/memory.h"
#include "tensor/tape.h"
#include "train/step/run_context.h"

// Attention if the library has no kernel, or none for the gradient. The simulated library can be
// configured so.
namespace engine {
namespace {

using kernels::simt::LibrarySettings;
using kernels::test::attention::expect_within;
using kernels::test::attention::Problem;

constexpr Device cuda{Device::Kind::cuda, 0};

class AttentionFallback : public ::testing::Test {
protected:
    ~AttentionFallback() override {
        kernels::simt::fail_plans("", 0);
        kernels::simt::configure(LibrarySettings{});
    }

    static Tensor leaf(const std::vector<double>& values, const Shape& shape) {
        return Tensor::of(values, shape, DType::f16, cuda).set_requires_grad(true);
    }
    Tensor attend() const {
        return scaled_dot_product_attention(
            q, k, v, {}, {.is_causal = true, .scale = problem.s.scale, .enable_gqa = true});
    }
    bool is_fused() const {
        const Names names;
        attend();
        return names.saw("scaled_dot_product_attention");
    }

    const Problem problem{DType::f16, {2, 4, 2, 9, 9, 16, 8, true, 0.3}};
    const Tensor q = leaf(problem.q, {2, 4, 9, 16}), k = leaf(problem.k, {2, 2, 9, 16}),
                 v = leaf(problem.v, {2, 2, 9, 8});
};

TEST_F(AttentionFallback, IsComposedWithoutAKernel) {
    EXPECT_TRUE(is_fused());
    kernels::simt::configure(LibrarySettings{.attention = false});
    EXPECT_FALSE(is_fused());
}

TEST_F(AttentionFallback, IsComposedWhereAGradientIsWantedThatHasNoKernel) {
    kernels::simt::configure(LibrarySettings{.attention_backward = false});
    EXPECT_FALSE(is_fused());
    const GradMode off(false);
    EXPECT_TRUE(is_fused());
}

// The library is asked for none of these (kernels/cuda/attention.cpp), whatever it would answer.
TEST_F(AttentionFallback, IsComposedForTheShapesThatTheLibraryComputesWrongly) {
    struct Row {
        const char* what;
        kernels::test::attention::Sizes sizes;
        bool fused_without_gradient;
    };
    const Row rows[] = {{"one key", {2, 2, 2, 5, 1, 16, 8}, false},
                        {"one query", {2, 2, 2, 1, 5, 16, 8}, true},
                        {"one query in all", {1, 1, 1, 1, 5, 16, 8}, false}};
    for (const auto& [what, s, fused_without_gradient] : rows) {
        SCOPED_TRACE(what);
        const Problem p{DType::f16, s};
        const Tensor own_q = leaf(p.q, {s.batch, s.heads, s.queries, s.qk_size}),
                     own_k = leaf(p.k, {s.batch, s.kv_heads, s.keys, s.qk_size}),
                     own_v = leaf(p.v, {s.batch, s.kv_heads, s.keys, s.v_size});
        const auto run = [&] {
            return scaled_dot_product_attention(own_q, own_k, own_v, {}, {.scale = s.scale});
        };
        {
            const GradMode off(false);
            const Names names;
            expect_within(run().values(), p.y, "y");
            EXPECT_EQ(names.saw("scaled_dot_product_attention"), fused_without_gradient);
        }
        const Names names;
        const Tensor y = run();
        const Tensor dy = Tensor::of(p.dy, y.shape(), DType::f16, cuda);
        backward({&y, 1}, {&dy, 1});
        EXPECT_FALSE(names.saw("scaled_dot_product_attention"));
        EXPECT_FALSE(names.saw("attention_backward"));
        expect_within(own_q.grad().values(), p.dq, "dq");
        expect_within(own_k.grad().values(), p.dk, "dk");
        expect_within(own_v.grad().values(), p.dv, "dv");
    }
}

// The simulated library has the fault that the real one has on Hopper before 9.26.
TEST_F(AttentionFallback, HasFiniteGradientsForRowsAntiAlignedToEveryKey) {
    for (const std::size_t version : {std::size_t{91900}, std::size_t{92600}})
        for (const std::int64_t keys : {64, 128}) {
            SCOPED_TRACE(std::to_string(version) + ", " + std::to_string(keys));
            kernels::simt::configure(LibrarySettings{.cudnn_version = version});
            const Problem p{DType::f16, {1, 1, 1, 5, keys, 8, 8, false, 0.25, true}};
            const Tensor own_q = leaf(p.q, {1, 1, 5, 8}), own_k = leaf(p.k, {1, 1, keys, 8}),
                         own_v = leaf(p.v, {1, 1, keys, 8});
            const Names names;
            const Tensor y =
                scaled_dot_product_attention(own_q, own_k, own_v, {}, {.scale = p.s.scale});
            const Tensor dy = Tensor::of(p.dy, y.shape(), DType::f16, cuda);
            backward({&y, 1}, {&dy, 1});
            EXPECT_EQ(names.saw("attention_backward"), keys == 128 || version == 92600);
            expect_within(y.values(), p.y, "y");
            expect_within(own_q.grad().values(), p.dq, "dq");
            expect_within(own_k.grad().values(), p.dk, "dk");
            expect_within(own_v.grad().values(), p.dv, "dv");
        }
}

// As in training with deterministic=true, whose algorithm writes a number for each score.
TEST_F(AttentionFallback, ComputesALargeDeterministicGradientInPartsAndComposesALargerOne) {
    const kernels::PlanChoiceScope stable{{.bit_stable = true}};
    // 2 examples of 4 heads, of 2 * 9 * 9 = 162 bytes each.
    struct Row {
        std::size_t limit;
        bool fused;
        std::int64_t runs;
    };
    for (const Row& row : {Row{1296, true, 1}, Row{1295, true, 2}, Row{648, true, 2},
                           Row{647, true, 4}, Row{324, true, 4}, Row{323, false, 0}}) {
        SCOPED_TRACE(row.limit);
        kernels::simt::configure(LibrarySettings{.attention_scratch = row.limit});
        for (const Tensor* each : {&q, &k, &v}) each->set_grad({});
        const Names names;
        const Tensor y = attend();
        EXPECT_EQ(names.saw("scaled_dot_product_attention"), row.fused);
        const Tensor dy = Tensor::of(problem.dy, y.shape(), DType::f16, cuda);
        const std::int64_t before = kernels::simt::attention_runs();
        backward({&y, 1}, {&dy, 1});
        expect_within(q.grad().values(), problem.dq, "dq");
        expect_within(k.grad().values(), problem.dk, "dk");
        expect_within(v.grad().values(), problem.dv, "dv");
        EXPECT_EQ(kernels::simt::attention_runs() - before, row.runs);
    }
}

TEST_F(AttentionFallback, HasNoLimitOfScratchWhereBitsMayDiffer) {
    const kernels::PlanChoiceScope any{{.bit_stable = false}};
    kernels::simt::configure(LibrarySettings{.attention_scratch = 1});
    EXPECT_TRUE(is_fused());
}

// The plan was made for a gradient with the layout of the result; this gradient has another layout.
TEST_F(AttentionFallback, ComposesTheGradientOfAFusedResultWhereItHasNoKernel) {
    const Tensor y = attend();
    expect_within(y.values(), problem.y, "y");
    kernels::simt::configure(LibrarySettings{.attention_backward = false});
    const Tensor dy = Tensor::of(problem.dy, y.shape(), DType::f16, cuda);
    const Names names;
    backward({&y, 1}, {&dy, 1});
    EXPECT_TRUE(names.saw("attention_values"));
    EXPECT_FALSE(names.saw("attention_backward"));
    expect_within(q.grad().values(), problem.dq, "dq");
    expect_within(k.grad().values(), problem.dk, "dk");
    expect_within(v.grad().values(), problem.dv, "dv");
}

// The composed form needs more memory than the kernel's scratch: the f32 scores of every query and
// key.
TEST_F(AttentionFallback, SaysTheSplitWhereItsScratchFindsNoRoomAndSpoilsNothing) {
    const Problem large{DType::f16, {2, 4, 2, 64, 64, 16, 8, true, 0.3}};
    const Tensor lq = leaf(large.q, {2, 4, 64, 16}), lk = leaf(large.k, {2, 2, 64, 16}),
                 lv = leaf(large.v, {2, 2, 64, 8});
    const Tensor y = scaled_dot_product_attention(
        lq, lk, lv, {}, {.is_causal = true, .scale = large.s.scale, .enable_gqa = true});
    const Tensor dy = Tensor::of(large.dy, y.shape(), DType::f16, cuda);
    release_cached_memory();
    // The gradients need 28 KiB and the scratch 64 KiB.
    const std::size_t before = set_memory_limit(memory_in_use(cuda) + 40 * 1024, cuda);
    try {
        backward({&y, 1}, {&dy, 1}, {.retain_graph = true});
        ADD_FAILURE() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::memory);
        EXPECT_NE(error.message().str().find("Out of memory asking for 0 MiB; in use: "),
                  std::string::npos)
            << error.message().str();
    }
    set_memory_limit(before, cuda);
    EXPECT_FALSE(lq.grad().defined());
    const Names names;
    backward({&y, 1}, {&dy, 1});
    EXPECT_TRUE(names.saw("attention_backward"));
    expect_within(lq.grad().values(), large.dq, "dq");
    expect_within(lk.grad().values(), large.dk, "dk");
    expect_within(lv.grad().values(), large.dv, "dv");
}

TEST_F(AttentionFallback, ThrowsWhereThePlanFindsNoMemoryAndIsComposedWhereItFailsOtherwise) {
    kernels::LibraryFallbacks told;
    const kernels::LibraryFallbackScope recorder(&told);
    kernels::simt::configure(LibrarySettings{});
    kernels::simt::fail_plans("cudnn_status: CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED",
                              2);
    EXPECT_THROW(attend(), kernels::OutOfMemory);
    kernels::simt::fail_plans("cudnn_status: CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER", 2);
    EXPECT_FALSE(is_fused());
    EXPECT_TRUE(is_fused()) << "the next call asks again";
    const auto messages = told.take();
    ASSERT_EQ(messages.size(), 1u);
    EXPECT_EQ(
        tell(messages[0]).str(),
        "cuDNN failed to prepare attention in f16, queries (2, 4, 9, 16), values (2, 2, 9, "
        "8), so it is computed as matrix products and a softmax, slower and with all scores in "
        "memory: cudnn_status: CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER");
}

TEST_F(AttentionFallback, IsToldOfBothPasses) {
    kernels::LibraryFallbacks told;
    const kernels::LibraryFallbackScope recorder(&told);
    kernels::simt::configure(LibrarySettings{.attention = false});
    attend();
    kernels::simt::configure(LibrarySettings{.attention_backward = false});
    attend();
    const auto messages = told.take();
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(
        tell(messages[0]).str(),
        "cuDNN has no fused kernel for attention in f16, queries (2, 4, 9, 16), values (2, "
        "2, 9, 8), on this device: it is computed as matrix products and a softmax, slower and "
        "with all scores in memory.");
    EXPECT_NE(tell(messages[1]).str().find("the gradient of attention in f16"), std::string::npos);
}

}  // namespace
}  // namespace engine
