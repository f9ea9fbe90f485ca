#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/attention_graph.h"
#include "cuda/conv2d_graph.h"
#include "cuda/plan_failure.h"
#include "kernels/described_devices.h"

// The graphs of attention, and others whose kernels are compiled with the plan, with the real cuDNN
// and without a device.
namespace kernels::test {
namespace {

struct Case {
    std::int64_t heads, kv_heads, queries, keys, qk_size, v_size;
    bool causal = false;
};

AttentionStrides by_head(std::int64_t heads, std::int64_t rows, std::int64_t size) {
    return {heads * rows * size, rows * size, size};
}

/// The layout of the three parts of a combined projection: the elements of a head are together in
/// each position.
AttentionStrides by_position(std::int64_t heads, std::int64_t rows, std::int64_t size) {
    return {rows * heads * size * 3, size, heads * size * 3};
}

cuda::AttentionGraph graph_of(const Case& c, DType dtype, AttentionPass pass, bool positions) {
    const auto strides = positions ? by_position : by_head;
    Attention a{.pass = pass,
                .dtype = dtype,
                .batch = 3,
                .heads = c.heads,
                .kv_heads = c.kv_heads,
                .queries = c.queries,
                .keys = c.keys,
                .qk_size = c.qk_size,
                .v_size = c.v_size,
                .scale = 0.125f,
                .causal = c.causal};
    a.q = a.dq = strides(c.heads, c.queries, c.qk_size);
    a.k = a.dk = strides(c.kv_heads, c.keys, c.qk_size);
    a.v = a.dv = strides(c.kv_heads, c.keys, c.v_size);
    a.y = a.dy = strides(c.heads, c.queries, c.v_size);
    return cuda::describe(a);
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const std::int64_t size : {8, 24, 32, 64, 80, 128})
        for (const std::int64_t length : {2, 7, 77, 128, 1000}) {
            all.push_back({4, 4, length, length, size, size});
            all.push_back({4, 4, length, length, size, size, true});
        }
    for (const std::int64_t length : {1, 7, 77, 128, 1000}) {
        all.push_back({4, 4, length, 33, 64, 64});
        all.push_back({4, 4, 33, length, 64, 64});
        all.push_back({6, 2, length, 40, 64, 64});
        all.push_back({6, 1, length, 40, 64, 32});
    }
    return all;
}

std::string text(const Case& c, DType dtype, AttentionPass pass) {
    return std::string(pass == AttentionPass::forward ? "forward " : "backward ") +
           (dtype == DType::f16 ? "f16" : "bf16") + " heads " + std::to_string(c.heads) + "/" +
           std::to_string(c.kv_heads) + " lengths " + std::to_string(c.queries) + "x" +
           std::to_string(c.keys) + " sizes " + std::to_string(c.qk_size) + "/" +
           std::to_string(c.v_size) + (c.causal ? " causal" : "");
}

template <class F>
void for_each(const F& f) {
    for (const Case& c : cases())
        for (const DType dtype : {DType::f16, DType::bf16})
            for (const auto pass : {AttentionPass::forward, AttentionPass::backward})
                f(c, dtype, pass);
}

TEST(CudnnAttention, IsValidForEveryDtypeAndShape) {
    HALFTONE_NEEDS_CUDNN();
    for_each([](const Case& c, DType dtype, AttentionPass pass) {
        for (const int capability : {80, 86, 89, 90})
            EXPECT_EQ(cuda::examine(graph_of(c, dtype, pass, true), {"", capability}).problem, "")
                << capability << " " << text(c, dtype, pass);
    });
}

/// cuDNN searches for an engine only if a driver library exists, but does not call it: the
/// toolkit's stub suffices.
bool has_driver_library() {
    static const bool found =
        dlopen("libcuda.so.1", RTLD_NOW) || dlopen(HALFTONE_CUDA_STUB, RTLD_NOW);
    return found;
}

TEST(CudnnAttention, HasAnEngineWithinOurRulesOnEveryCardThatHasTheKernels) {
    HALFTONE_NEEDS_CUDNN();
    if (!has_driver_library()) GTEST_SKIP() << "neither libcuda.so.1 nor " << HALFTONE_CUDA_STUB;
    for (const DescribedCard& card : cards)
        for_each([&](const Case& c, DType dtype, AttentionPass pass) {
            for (const bool positions : {false, true}) {
                const auto found =
                    cuda::examine(graph_of(c, dtype, pass, positions), description(card));
                EXPECT_EQ(found.problem.empty(), card.version >= 800)
                    << card.name << " " << text(c, dtype, pass) << " " << found.problem;
            }
        });
}

/// f32 sums of 16-bit operands, stored unrounded. A convolution with bias uses them if the library
/// has no engine with a bias. The kernels are compiled, and loaded if there is a driver.
cuda::ConvGraph wide_sums(DType dtype, const Conv2dShape& shape) {
    cuda::ConvGraph graph =
        cuda::describe(cuda::ConvOperation::forward, shape, dtype, false, false);
    graph.y.dtype = DType::f32;
    return graph;
}

// Rejected: odd channel counts (rows are multiples of 32 bits) and groups of one channel.
TEST(CudnnWideSums, HaveAnEngineWithinOurRulesForEvenChannelsFromAmpereOn) {
    HALFTONE_NEEDS_CUDNN();
    if (!has_driver_library()) GTEST_SKIP() << "neither libcuda.so.1 nor " << HALFTONE_CUDA_STUB;
    const Conv2dShape even{.n = 64, .c = 6, .h = 14, .w = 14, .k = 16, .r = 5, .s = 5};
    const Conv2dShape groups{
        .n = 8, .c = 32, .h = 14, .w = 14, .k = 32, .r = 3, .s = 3, .groups = 4};
    const Conv2dShape odd{.n = 64, .c = 3, .h = 32, .w = 32, .k = 64, .r = 3, .s = 3};
    for (const DescribedCard& card : cards) {
        // With the toolkit's stub everything works except loading the kernel.
        const auto found = [&](DType dtype, const Conv2dShape& shape) {
            const std::string problem =
                cuda::examine(wide_sums(dtype, shape), description(card)).problem;
            return problem.empty() || problem.find("cuLibraryLoadData") != problem.npos;
        };
        EXPECT_EQ(found(DType::f16, even), card.version >= 800) << card.name;
        EXPECT_EQ(found(DType::bf16, groups), card.version >= 800) << card.name;
        EXPECT_FALSE(found(DType::f16, odd)) << card.name;
    }
}

// If the driver does not load a kernel, no engine is cached for it.
TEST(CudnnWideSums, FailForAnotherReasonThanNotSupportedWithoutADriver) {
    HALFTONE_NEEDS_CUDNN();
    if (!has_driver_library()) GTEST_SKIP() << "neither libcuda.so.1 nor " << HALFTONE_CUDA_STUB;
    const Conv2dShape shape{.n = 64, .c = 64, .h = 32, .w = 32, .k = 64, .r = 3, .s = 3};
    const std::string problem =
        cuda::examine(wide_sums(DType::f16, shape), description(cards[1])).problem;
    if (problem.empty()) GTEST_SKIP() << "there is a driver";
    const cuda::PlanComplaint complaint = cuda::read_complaint(problem);
    EXPECT_EQ(complaint.kind, cuda::PlanFailure::other) << problem;
    EXPECT_NE(complaint.words.find("cuLibraryLoadData returned error"), std::string::npos)
        << complaint.words;
    const cuda::PlanComplaint odd = cuda::read_complaint(
        cuda::examine(
            wide_sums(DType::f16, {.n = 8, .c = 3, .h = 9, .w = 9, .k = 5, .r = 3, .s = 3}),
            description(cards[1]))
            .problem);
    EXPECT_EQ(odd.kind, cuda::PlanFailure::unsupported) << odd.words;
}

// The engine leaves these cases to the library.
TEST(CudnnAttention, IsRefusedForOneKeyOfOneQueryAndLongHeadsBackwards) {
    HALFTONE_NEEDS_CUDNN();
    const auto refuses = [](const Case& c, AttentionPass pass) {
        return !cuda::examine(graph_of(c, DType::f16, pass, false), {"", 80}).problem.empty();
    };
    EXPECT_TRUE(refuses({4, 4, 1, 1, 64, 64}, AttentionPass::backward));
    EXPECT_FALSE(refuses({4, 4, 1, 1, 64, 64}, AttentionPass::forward));
    EXPECT_TRUE(refuses({4, 4, 64, 64, 136, 136}, AttentionPass::backward));
}

}  // namespace
}  // namespace kernels::test
