#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cuda/conv2d_graph.h"
#include "kernels/conv2d_on_device.h"
#include "kernels/conv2d_problem.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_array.h"
#include "kernels/device_error.h"
#include "kernels/library_fallback.h"
#include "kernels/thread_context.h"
#include "simt/device.h"
#include "simt/libraries.h"
#include "simt/work_counts.h"

// Cases of the CUDA convolutions that only the simulated library can produce.
namespace kernels::test::conv {
namespace {

/// The five results of a shape, with the engines that the library offers.
std::vector<std::vector<double>> results(const Problem& p, const simt::LibrarySettings& settings) {
    simt::configure(settings);
    const DeviceBuffer x(p.x), w(p.w), dy(p.dy), bias(p.bias);
    const DeviceBuffer y(p.dtype, p.dy.size()), dx(p.dtype, p.x.size()), dw(p.dtype, p.w.size());
    cuda::conv2d_forward(y, x, w, bias, p.shape, {});
    cuda::conv2d_data_gradient(dx, dy, w, p.shape, {});
    cuda::conv2d_weight_gradient(dw, {nullptr, p.dtype, 0}, dy, x, p.shape, {});
    const Buffer ys = y.host(), dxs = dx.host(), dws = dw.host();
    expect_sums(ys, p.biased, "y with bias");
    expect_sums(dxs, p.dx_sums, "dx");
    expect_sums(dws, p.dw_sums, "dw");
    simt::configure(simt::LibrarySettings{});
    return {ys.values(), dxs.values(), dws.values()};
}

const Conv2dShape shapes[] = {
    {.n = 2,
     .c = 6,
     .h = 7,
     .w = 9,
     .k = 4,
     .r = 3,
     .s = 2,
     .stride_w = 2,
     .pad_h = 1,
     .dilation_h = 2,
     .groups = 2},
    {.n = 3, .c = 5, .h = 6, .w = 6, .k = 33, .r = 1, .s = 1, .stride_h = 2, .stride_w = 2},
    {.n = 1, .c = 1, .h = 12, .w = 20, .k = 3, .r = 5, .s = 5, .pad_h = 4, .pad_w = 2}};

/// Frees its memory, since other tests count the device's memory.
class SimulatedConv2d : public ::testing::Test {
protected:
    ~SimulatedConv2d() override { cuda::release_workspaces(); }
};

TEST_F(SimulatedConv2d, AgreesWithDoubleWithoutTheLibrarysBias) {
    for (const DType dtype : floating)
        for (const Conv2dShape& shape : shapes) {
            SCOPED_TRACE(to_string(dtype, shape));
            const Problem problem(dtype, shape);
            const auto whole = results(problem, {});
            EXPECT_EQ(results(problem, {.convolution_bias = false}), whole);
        }
}

TEST_F(SimulatedConv2d, AgreesWithDoubleWithoutTheLibrarysBiasAndItsWideSums) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
        SCOPED_TRACE(to_string(dtype, shapes[0]));
        results(Problem(dtype, shapes[0]), {.convolution_bias = false, .convolution_wide = false});
    }
}

TEST_F(SimulatedConv2d, AgreesWithDoubleWithoutAnyEngine) {
    for (const DType dtype : floating)
        for (const Conv2dShape& shape : shapes) {
            SCOPED_TRACE(to_string(dtype, shape));
            results(Problem(dtype, shape), {.convolution = false});
        }
}

TEST_F(SimulatedConv2d, HasTheSameBitsForWeightsInChannelsLastWithoutTheLibrary) {
    for (const DType dtype : floating)
        for (const Conv2dShape& shape : weight_orders) {
            SCOPED_TRACE(to_string(dtype, shape));
            simt::configure({.convolution = false});
            expect_same_in_channels_last(on_device, Problem(dtype, shape));
            simt::configure(simt::LibrarySettings{});
        }
}

/// Copies of weights between orders in the three passes of a convolution.
std::int64_t weight_copies(bool channels_last) {
    Problem p(DType::f16, weight_orders[0]);
    p.shape.channels_last_weights = channels_last;
    simt::start_counting();
    const DeviceBuffer x(p.x), w(p.w), dy(p.dy);
    const DeviceBuffer y(p.dtype, p.dy.size()), dx(p.dtype, p.x.size()), dw(p.dtype, p.w.size());
    cuda::conv2d_forward(y, x, w, {nullptr, p.dtype, 0}, p.shape, {});
    cuda::conv2d_data_gradient(dx, dy, w, p.shape, {});
    cuda::conv2d_weight_gradient(dw, {nullptr, p.dtype, 0}, dy, x, p.shape, {});
    cuda::synchronize({});
    const simt::WorkCounts counts = simt::stop_counting();
    EXPECT_EQ(counts.at("cudnnBackendExecute").runs, 3);
    const auto found = counts.find("copy_strided");
    return found == counts.end() ? 0 : found->second.runs;
}

TEST_F(SimulatedConv2d, CopiesNoWeightsInChannelsLast) {
    EXPECT_EQ(weight_copies(false), 3);
    EXPECT_EQ(weight_copies(true), 0);
}

/// Copies and fills of the two passes that read images of three channels.
std::int64_t copies_of_three_channels(DType dtype, std::int64_t pitch) {
    Problem p(dtype, {.n = 2, .c = 3, .h = 5, .w = 6, .k = 8, .r = 3, .s = 3});
    p.shape.channels_last_weights = true;
    p.shape.x_pitch = pitch;
    const DeviceBuffer x(p.dtype, p.x.size() / 3 * std::max<std::int64_t>(pitch, 3));
    const DeviceBuffer w(p.w), dy(p.dy);
    const DeviceBuffer y(p.dtype, p.dy.size()), dw(p.dtype, p.w.size());
    simt::start_counting();
    cuda::conv2d_forward(y, x, w, {nullptr, p.dtype, 0}, p.shape, {});
    cuda::conv2d_weight_gradient(dw, {nullptr, p.dtype, 0}, dy, x, p.shape, {});
    cuda::synchronize({});
    const simt::WorkCounts counts = simt::stop_counting();
    const auto runs = [&](const char* name) {
        const auto found = counts.find(name);
        return found == counts.end() ? 0 : found->second.runs;
    };
    return runs("fill") + runs("copy_strided");
}

TEST_F(SimulatedConv2d, PadsThreeChannelsToEightUnlessTheyLieSo) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
        EXPECT_EQ(copies_of_three_channels(dtype, 0), 3 + 4)
            << "a fill and a copy of the images in each pass and of the weights in one, and the "
               "weights' gradient";
        EXPECT_EQ(copies_of_three_channels(dtype, 8), 3);
    }
    EXPECT_EQ(copies_of_three_channels(DType::f32, 0), 0);
}

TEST_F(SimulatedConv2d, ReadsPaddedPixelsWithoutTheLibraryToo) {
    const Conv2dShape shape{.n = 2, .c = 3, .h = 5, .w = 6, .k = 8, .r = 3, .s = 3};
    Problem padded(DType::f16, shape);
    const Problem dense(DType::f16, shape);
    Buffer pixels(DType::f16, padded.x.size() / 3 * 8);
    for (std::int64_t i = 0; i < pixels.size(); ++i)
        pixels.set(i, i % 8 < 3 ? padded.x.get(i / 8 * 3 + i % 8) : 0);
    padded.x = pixels;
    padded.shape.x_pitch = 8;
    simt::configure({.convolution = false});
    const DeviceBuffer x(padded.x), w(padded.w), dy(padded.dy);
    const DeviceBuffer y(DType::f16, dense.dy.size()), dw(DType::f16, dense.w.size());
    cuda::conv2d_forward(y, x, w, {nullptr, DType::f16, 0}, padded.shape, {});
    cuda::conv2d_weight_gradient(dw, {nullptr, DType::f16, 0}, dy, x, padded.shape, {});
    expect_sums(y.host(), dense.y_sums, "y");
    expect_sums(dw.host(), dense.dw_sums, "dw");
    simt::configure(simt::LibrarySettings{});
}

TEST_F(SimulatedConv2d, TakesAnEngineThatNeedsLessWhereTheFirstFindsNoRoom) {
    for (const DType dtype : {DType::f32, DType::f16}) {
        const Problem problem(dtype, shapes[0]);
        const auto expected = results(problem, {});
        cuda::release_workspaces();
        simt::configure(simt::DeviceSettings{.memory_bytes = 1 << 20});
        EXPECT_EQ(results(problem, {.convolution_scratch = 2 << 20}), expected);
        cuda::release_workspaces();
        simt::configure(simt::DeviceSettings{});
    }
}

TEST_F(SimulatedConv2d, KeepsThatEngineForTheGraphAndAsksTheFirstForOthers) {
    const auto graph = [](std::int64_t n) {
        Conv2dShape shape = shapes[0];
        shape.n = n;
        return cuda::describe(cuda::ConvOperation::forward, shape, DType::f32, false, false);
    };
    simt::configure({.convolution_scratch = 4000});
    EXPECT_EQ(cuda::convolution_workspace(graph(2), nullptr), 4000u);
    EXPECT_EQ(cuda::convolution_workspace_below(graph(2), 4000), 1000u);
    EXPECT_EQ(cuda::convolution_workspace(graph(2), nullptr), 1000u);
    EXPECT_EQ(cuda::convolution_workspace_below(graph(2), 1000), std::nullopt);
    EXPECT_EQ(cuda::convolution_workspace(graph(3), nullptr), 4000u);
    simt::configure(simt::LibrarySettings{});
}

TEST_F(SimulatedConv2d, ThrowsWhereNoEngineFindsRoomAndIsAskedAgain) {
    const Problem p(DType::f32, shapes[0]);
    const DeviceBuffer x(p.x), dy(p.dy), dw(p.dtype, p.w.size());
    const auto gradient = [&] {
        cuda::conv2d_weight_gradient(dw, {nullptr, p.dtype, 0}, dy, x, p.shape, {});
    };
    simt::refuse_memory(0, 2);  // the least that scratch begins with, and the required size
    EXPECT_THROW(gradient(), OutOfMemory);
    gradient();
    expect_sums(dw.host(), p.dw_sums, "dw");
}

// The plan of another engine is not created while a step is captured.
TEST_F(SimulatedConv2d, LeavesTheChoiceOfAnotherEngineToEagerSteps) {
    const Problem p(DType::f32, shapes[0]);
    const DeviceBuffer x(p.x), dy(p.dy), dw(p.dtype, p.w.size());
    const auto gradient = [&] {
        cuda::conv2d_weight_gradient(dw, {nullptr, p.dtype, 0}, dy, x, p.shape, {});
    };
    simt::configure(simt::DeviceSettings{.memory_bytes = 1 << 20});
    simt::configure({.convolution_scratch = 2 << 20});
    cuda::begin_capture({});
    EXPECT_THROW(gradient(), OutOfMemory);
    cuda::abandon_capture({});
    gradient();
    expect_sums(dw.host(), p.dw_sums, "dw");
    simt::configure(simt::LibrarySettings{});
    simt::configure(simt::DeviceSettings{});
}

TEST_F(SimulatedConv2d, TellsWhatFallsBackToLoopsOnceWhateverTheBatch) {
    LibraryFallbacks outer, inner;
    const LibraryFallbackScope recorder(&outer);
    const auto convolution = [](const LibraryFallback& told) {
        return std::get<Conv2dFallback>(told);
    };
    results(Problem(DType::f32, shapes[0]), {});
    EXPECT_TRUE(outer.take().empty());
    Conv2dShape larger = shapes[0];
    larger.n = 5;
    for (const Conv2dShape& shape : {shapes[0], larger, shapes[0]})
        results(Problem(DType::f32, shape), {.convolution = false});
    const auto first = outer.take();
    ASSERT_EQ(first.size(), 3u);
    EXPECT_EQ(convolution(first[0]).pass, Conv2dPass::forward);
    EXPECT_EQ(convolution(first[1]).pass, Conv2dPass::data_gradient);
    EXPECT_EQ(convolution(first[2]).pass, Conv2dPass::weight_gradient);
    EXPECT_EQ(convolution(first[0]).shape, shapes[0]);
    results(Problem(DType::f16, shapes[0]), {.convolution_bias = false, .convolution_wide = false});
    results(Problem(DType::bf16, shapes[0]), {.convolution_bias = false});
    {
        const LibraryFallbackScope nearer(&inner);
        results(Problem(DType::f32, shapes[1]), {.convolution = false});
    }
    const auto second = outer.take();
    ASSERT_EQ(second.size(), 1u) << "16 bits are not rounded before the bias";
    EXPECT_EQ(convolution(second[0]).dtype, DType::f16);
    EXPECT_EQ(inner.take().size(), 3u) << "the innermost alone is told";
}

/// `base`, changed in one respect each that another plan would be needed for on any device.
std::vector<cuda::ConvGraph> other_graphs(const cuda::ConvGraph& base) {
    using cuda::ConvGraph;
    std::vector<ConvGraph> out;
    const auto add = [&](auto change) { change(out.emplace_back(base)); };
    add([](ConvGraph& g) { g.operation = cuda::ConvOperation::data_gradient; });
    add([](ConvGraph& g) { g.x.dtype = DType::f16; });
    add([](ConvGraph& g) { g.y.dims[0] = 9; });
    add([](ConvGraph& g) { g.w.strides[2] = 9; });
    add([](ConvGraph& g) { g.bias = g.y; });
    add([](ConvGraph& g) { g.padding[1] = 9; });
    add([](ConvGraph& g) { g.stride[0] = 9; });
    add([](ConvGraph& g) { g.dilation[0] = 9; });
    add([](ConvGraph& g) { g.tf32 = true; });
    add([](ConvGraph& g) { g.bit_stable = false; });
    return out;
}

TEST(ConvGraph, DiffersInAllThatMatters) {
    using cuda::ConvGraph;
    const ConvGraph base =
        cuda::describe(cuda::ConvOperation::forward, shapes[0], DType::f32, false, false);
    const cuda::ConvGraphHash hash;
    const auto differs = [&](const ConvGraph& other) {
        return !(other == base) && hash(other) != hash(base);
    };
    ConvGraph elsewhere = base, by_engine = base;
    elsewhere.device = 1;
    by_engine.engine = "eng1";
    for (const ConvGraph& other : other_graphs(base)) EXPECT_TRUE(differs(other));
    EXPECT_TRUE(differs(elsewhere));
    EXPECT_TRUE(differs(by_engine));
}

TEST(ConvGraph, HasATextForAllButTheDeviceAndTheEngine) {
    using cuda::ConvGraph;
    const ConvGraph base =
        cuda::describe(cuda::ConvOperation::forward, shapes[0], DType::f32, false, false);
    const auto differs = [&](const ConvGraph& other) { return text(other) != text(base); };
    ConvGraph elsewhere = base, by_engine = base;
    elsewhere.device = 1;
    by_engine.engine = "eng1";
    for (const ConvGraph& other : other_graphs(base)) EXPECT_TRUE(differs(other));
    EXPECT_FALSE(differs(elsewhere));
    EXPECT_FALSE(differs(by_engine));
}

TEST(ConvGraph, IsBitStableUnlessTheChoiceSaysOtherwise) {
    const auto graph = [] {
        return cuda::describe(cuda::ConvOperation::forward, shapes[0], DType::f32, false, false);
    };
    EXPECT_TRUE(graph().bit_stable);
    const PlanChoiceScope any{{.bit_stable = false}};
    EXPECT_FALSE(graph().bit_stable);
}

TEST(ConvGraph, TakesTf32ForF32Only) {
    const auto graph = [](DType dtype) {
        return cuda::describe(cuda::ConvOperation::forward, shapes[0], dtype, false, true);
    };
    EXPECT_TRUE(graph(DType::f32).tf32);
    EXPECT_FALSE(graph(DType::f16).tf32);
    EXPECT_FALSE(graph(DType::f64).tf32);
}

}  // namespace
}  // namespace kernels::test::conv
