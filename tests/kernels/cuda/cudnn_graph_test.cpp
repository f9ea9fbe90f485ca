#include "cuda/cudnn_graph.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kernels/conv2d_problem.h"
#include "kernels/described_devices.h"

// The graphs of all convolutions, with the real cuDNN and without a device: it validates them, and
// plans them for devices described by their properties.
namespace kernels::test::conv {
namespace {

using cuda::ConvOperation;

struct Case {
    ConvOperation operation;
    DType dtype;
    bool bias = false, tf32 = false;
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const auto operation :
         {ConvOperation::forward, ConvOperation::data_gradient, ConvOperation::weight_gradient}) {
        for (const DType dtype : floating) all.push_back({operation, dtype});
        all.push_back({operation, DType::f32, false, true});
    }
    for (const DType dtype : floating) all.push_back({ConvOperation::forward, dtype, true});
    return all;
}

std::string text(const Case& c) {
    return "operation " + std::to_string(static_cast<int>(c.operation)) + (c.bias ? " bias" : "") +
           (c.tf32 ? " tf32" : "");
}

const Conv2dShape layers[] = {
    {.n = 64, .c = 64, .h = 32, .w = 32, .k = 64, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1},
    {.n = 64, .c = 64, .h = 32, .w = 32, .k = 128, .r = 1, .s = 1, .stride_h = 2, .stride_w = 2},
    {.n = 64, .c = 1, .h = 28, .w = 28, .k = 6, .r = 5, .s = 5, .pad_h = 2, .pad_w = 2},
    {.n = 64, .c = 6, .h = 14, .w = 14, .k = 16, .r = 5, .s = 5},
    {.n = 64, .c = 3, .h = 32, .w = 32, .k = 64, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1},
    {.n = 8,
     .c = 32,
     .h = 14,
     .w = 14,
     .k = 32,
     .r = 3,
     .s = 3,
     .pad_h = 2,
     .pad_w = 2,
     .dilation_h = 2,
     .dilation_w = 2,
     .groups = 4}};

cuda::GraphExamination examine(const Case& c, const Conv2dShape& shape,
                               const cuda::DescribedDevice& device) {
    return cuda::examine(cuda::describe(c.operation, shape, c.dtype, c.bias, c.tf32), device);
}

TEST(CudnnGraph, IsValidForEveryOperationDtypeAndShape) {
    HALFTONE_NEEDS_CUDNN();
    for (const Case& c : cases())
        for (const Conv2dShape& shape : layers)
            EXPECT_EQ(examine(c, shape, {}).problem, "")
                << text(c) << " " << to_string(c.dtype, shape);
}

/// Turing and older have no bf16. Our own loops compute it there.
bool has_arithmetic(const DescribedCard& device, DType dtype) {
    return dtype != DType::bf16 || device.version >= 800;
}

// The engine that cuDNN 9 calls "eng28" may change, but one that satisfies our rules must exist.
TEST(CudnnGraph, HasAnEngineWithinOurRulesOnEveryCard) {
    HALFTONE_NEEDS_CUDNN();
    for (const DescribedCard& device : cards)
        for (const Case& c : cases())
            for (const Conv2dShape& shape : layers) {
                if (!has_arithmetic(device, c.dtype)) continue;
                const auto found = examine(c, shape, description(device));
                EXPECT_EQ(found.problem, "")
                    << device.name << " " << text(c) << " " << to_string(c.dtype, shape);
                EXPECT_FALSE(found.engine.empty());
            }
}

// Takes the first supported engine within the limit, and none beyond it.
TEST(CudnnGraph, TakesAnEngineWithinTheLimitOfScratch) {
    HALFTONE_NEEDS_CUDNN();
    int others = 0;
    for (const DescribedCard& device : cards)
        for (const Case& c : cases())
            for (const Conv2dShape& shape : layers) {
                if (!has_arithmetic(device, c.dtype)) continue;
                cuda::DescribedDevice limited = description(device);
                const auto first = examine(c, shape, limited);
                if (first.workspace_bytes == 0) continue;
                limited.max_workspace = first.workspace_bytes - 1;
                const auto other = examine(c, shape, limited);
                if (!other.problem.empty()) continue;
                ++others;
                EXPECT_LT(other.workspace_bytes, first.workspace_bytes)
                    << device.name << " " << text(c) << " " << to_string(c.dtype, shape);
            }
    EXPECT_GT(others, 0) << "or the limit does nothing";
}

TEST(CudnnGraph, HasSeveralEnginesForARaceOfEachPassOfAResNetsLayer) {
    HALFTONE_NEEDS_CUDNN();
    cuda::DescribedDevice device = description(cards[4]);
    device.for_race = true;
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32})
        for (const auto operation : {ConvOperation::forward, ConvOperation::data_gradient,
                                     ConvOperation::weight_gradient}) {
            const Case c{operation, dtype, false, true};
            SCOPED_TRACE(text(c));
            const auto found = examine(c, layers[0], device);
            ASSERT_GE(found.engines.size(), 2u);
            EXPECT_EQ(found.engines.front(), found.engine) << "the first choice runs first";
            EXPECT_EQ(std::set(found.engines.begin(), found.engines.end()).size(),
                      found.engines.size())
                << "a name names one";
            auto graph = cuda::describe(operation, layers[0], dtype, false, true);
            graph.engine = found.engines.back();
            EXPECT_EQ(cuda::examine(graph, description(cards[4])).engine, graph.engine);
            graph.engine = "eng-1";
            EXPECT_NE(cuda::examine(graph, description(cards[4])).problem, "");
        }
}

TEST(CudnnGraph, HasMoreEnginesWhereSumsMayHaveAnyOrder) {
    HALFTONE_NEEDS_CUDNN();
    cuda::DescribedDevice device = description(cards[4]);
    device.for_race = true;
    int others = 0;
    for (const Conv2dShape& shape : layers) {
        auto graph =
            cuda::describe(ConvOperation::weight_gradient, shape, DType::f32, false, false);
        const auto stable = cuda::examine(graph, device);
        graph.bit_stable = false;
        const auto any = cuda::examine(graph, device);
        EXPECT_EQ(any.problem, "");
        others += any.engines != stable.engines;
    }
    EXPECT_GT(others, 0) << "or the setting does nothing";
}

TEST(CudnnGraph, TakesAnotherEngineForTf32) {
    HALFTONE_NEEDS_CUDNN();
    const DescribedCard& device = cards[1];
    const auto plan = [&](bool tf32) {
        const Case c{ConvOperation::forward, DType::f32, false, tf32};
        return examine(c, layers[0], description(device)).engine;
    };
    EXPECT_NE(plan(false), plan(true));
}

}  // namespace
}  // namespace kernels::test::conv
