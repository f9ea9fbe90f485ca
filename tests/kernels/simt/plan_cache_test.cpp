#include <gtest/gtest.h>

#include <functional>

#include "cuda/attention_graph.h"
#include "cuda/conv2d_graph.h"
#include "cuda/plan_cache.h"
#include "kernels/conv2d_problem.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_array.h"
#include "kernels/library_fallback.h"
#include "kernels/recurrent_network_run.h"
#include "simt/libraries.h"

// Plans of the libraries: failed plans, and the lifetime of a plan.
namespace kernels::test {
namespace {

using cuda::PlanComplaint;
using cuda::PlanFailure;
using cuda::read_complaint;

constexpr const char* no_memory =
    "Plan at index 0: CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: cudnnFinalize Descriptor Failed"
    "cuLibraryLoadData returned error CUDA_ERROR_OUT_OF_MEMORY (2) at: CUDA_SUCCESS != result "
    "cudnn_status: CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER";
constexpr const char* no_driver =
    "CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: cudnnFinalize Descriptor Failed"
    "cuLibraryLoadData returned error  (34) at: CUDA_SUCCESS != result "
    "cudnn_status: CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER";

TEST(PlanComplaint, TellsWantOfMemoryFromOtherFailuresAndFromNotSupported) {
    const auto kind = [](const char* text) { return read_complaint(text).kind; };
    EXPECT_EQ(kind(no_memory), PlanFailure::memory);
    EXPECT_EQ(kind("cuLibraryLoadData returned error  (2) at: CUDA_SUCCESS != result"),
              PlanFailure::memory);
    EXPECT_EQ(kind("x cudnn_status: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED"),
              PlanFailure::memory);
    EXPECT_EQ(kind("cudaMalloc failed with out of memory"), PlanFailure::memory);
    EXPECT_EQ(kind(no_driver), PlanFailure::other);
    EXPECT_EQ(kind("f() failed with message: , and code: CUDNN_STATUS_INTERNAL_ERROR"),
              PlanFailure::other);
    EXPECT_EQ(kind("returned error (2)\nlater cudnn_status: CUDNN_STATUS_NOT_SUPPORTED"),
              PlanFailure::memory);
    EXPECT_EQ(kind("x cudnn_status: CUDNN_STATUS_NOT_SUPPORTED_SHAPE"), PlanFailure::unsupported);
    EXPECT_EQ(kind("x cudnn_status: CUDNN_STATUS_BAD_PARAM"), PlanFailure::unsupported);
    EXPECT_EQ(kind("Deselecting execution plan"), PlanFailure::unsupported);
}

// In the list of the engines that the heuristics tried, an internal error means that one engine
// does not support the graph.
TEST(PlanComplaint, DoesNotTakeAHeuristicsListForAFailure) {
    const PlanComplaint list = read_complaint(
        "No valid engine configs for _\n"
        "Error: CUDNN_STATUS_INTERNAL_ERROR; Reason: conv.g != 1\n"
        "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: finalize_internal()\n");
    EXPECT_EQ(list.kind, PlanFailure::unsupported);
    EXPECT_EQ(list.words, "");
    EXPECT_EQ(read_complaint("No valid engine configs for _\n"
                             "Error: CUDNN_STATUS_EXECUTION_FAILED_CUDART; Reason: launch\n")
                  .kind,
              PlanFailure::other);
}

TEST(PlanComplaint, HasTheLineThatCounts) {
    EXPECT_EQ(read_complaint(no_driver).words, no_driver);
    const PlanComplaint lack = read_complaint(
        "No valid engine configs\n"
        "Warning: CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING; Reason: loadDLL()\n"
        "Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: x\n");
    EXPECT_EQ(lack.kind, PlanFailure::unsupported);
    EXPECT_EQ(lack.words,
              "Warning: CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING; Reason: "
              "loadDLL()");
    EXPECT_EQ(read_complaint("out of memory" + std::string(1000, 'x')).words.size(), 300u);
    EXPECT_EQ(read_complaint("").words, "");
}

int times_given_back = 0;

/// A cache for a library whose failure each test selects.
class PlanCache : public ::testing::Test {
protected:
    PlanCache() {
        times_given_back = 0;
        cuda::set_cache_trimmer([](int) { ++times_given_back; });
    }
    ~PlanCache() override { cuda::set_cache_trimmer(nullptr); }

    using Made = cuda::MadePlan<int>;
    static Made plan() { return {std::make_shared<int>(7), {}}; }
    static Made failed(PlanFailure kind, const char* words) { return {nullptr, {kind, words}}; }

    bool get(const std::function<Made(bool)>& make) {
        const auto counted = [&](bool last_try) {
            ++asked;
            return make(last_try);
        };
        why.clear();
        return cache.get(1, counted, &why) != nullptr;
    }

    cuda::PlanCache<int, int, std::hash<int>> cache{2};
    int asked = 0;
    std::string why;
};

TEST_F(PlanCache, RemembersAPlanAndWhatIsNotSupported) {
    EXPECT_TRUE(get([](bool) { return plan(); }));
    EXPECT_TRUE(get([](bool) { return Made{}; }));
    EXPECT_EQ(asked, 1);
    cache.clear();
    const auto lacks = [](bool) { return failed(PlanFailure::unsupported, "no compiler"); };
    EXPECT_FALSE(get(lacks));
    EXPECT_FALSE(get([](bool) { return plan(); }));
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(why, "no compiler");
    EXPECT_EQ(times_given_back, 0);
}

TEST_F(PlanCache, GivesMemoryBackAndAsksOnceMore) {
    for (const auto kind : {PlanFailure::memory, PlanFailure::other}) {
        cache.clear();
        const int before = times_given_back;
        EXPECT_TRUE(get([&](bool last_try) {
            EXPECT_EQ(times_given_back, before + last_try);
            return last_try ? plan() : failed(kind, "busy");
        }));
        EXPECT_EQ(times_given_back, before + 1);
    }
    EXPECT_TRUE(get([](bool) { return Made{}; })) << "it is remembered";
}

TEST_F(PlanCache, TakesAnotherPlanInPlaceOfItsOwn) {
    EXPECT_TRUE(get([](bool) { return plan(); }));
    const auto other = std::make_shared<int>(8);
    cache.put(1, other);
    EXPECT_EQ(cache.get(1, [](bool) { return plan(); }), other);
    EXPECT_EQ(asked, 1);
}

TEST_F(PlanCache, ThrowsWhereMemoryIsWantingAndAsksAgainAtTheNextCall) {
    const auto full = [](bool) { return failed(PlanFailure::memory, "cudaMalloc"); };
    for (int i = 0; i < 3; ++i) {
        try {
            get(full);
            FAIL() << "no error";
        } catch (const OutOfMemory& error) {
            EXPECT_STREQ(error.what(), "out of memory: cudaMalloc");
            EXPECT_EQ(error.bytes, 0u);
        }
    }
    EXPECT_EQ(asked, 6);
    EXPECT_TRUE(get([](bool) { return plan(); }));
}

TEST_F(PlanCache, GivesAReasonForAnotherFailureAndAsksAgainMoreAndMoreRarely) {
    const auto broken = [](bool) { return failed(PlanFailure::other, "the driver is busy"); };
    std::vector<int> calls;
    for (int call = 1; call <= 20; ++call) {
        const int before = asked;
        EXPECT_FALSE(get(broken));
        EXPECT_EQ(why, "the driver is busy") << call;
        if (asked > before) calls.push_back(call);
    }
    EXPECT_EQ(calls, (std::vector<int>{1, 2, 4, 8, 16}));
    for (int call = 0; call < 12; ++call) get([](bool) { return plan(); });
    EXPECT_TRUE(get(broken)) << "and takes what it is then given";
}

constexpr Conv2dShape small_shape{
    .n = 2, .c = 3, .h = 5, .w = 4, .k = 2, .r = 3, .s = 3, .pad_h = 1};

class SimulatedPlans : public ::testing::Test {
protected:
    SimulatedPlans() { simt::configure(simt::LibrarySettings{}); }
    ~SimulatedPlans() override {
        simt::fail_plans("", 0);
        simt::configure(simt::LibrarySettings{});
        cuda::release_workspaces();
    }
    /// Requests that many more shapes than the cache holds.
    static void ask_for_other_shapes() {
        Conv2dShape other = small_shape;
        for (other.n = 10; other.n < 610; ++other.n)
            ASSERT_TRUE(cuda::convolution_workspace(
                cuda::describe(cuda::ConvOperation::forward, other, DType::f32, false, false),
                nullptr));
    }
};

TEST_F(SimulatedPlans, OfARecordedStepLiveAsLongAsItsGraph) {
    const conv::Problem p(DType::f32, small_shape);
    const DeviceBuffer x(p.x), w(p.w), bias(p.bias), y(p.dtype, p.dy.size());
    const auto convolve = [&] { cuda::conv2d_forward(y, x, w, bias, small_shape, {}); };
    convolve();
    cuda::begin_capture({});
    convolve();
    auto graph = cuda::end_capture({});
    ask_for_other_shapes();
    EXPECT_EQ(simt::plans_alive(), 512 + 1) << "those of the cache and the recorded one";
    cuda::set_zero(y.as<float>(), p.dy.size() * sizeof(float), {});
    graph->launch({});
    conv::expect_sums(y.host(), p.biased, "y of a plan that the cache has dropped");
    graph->launch({});  // and is waited for
    graph.reset();
    EXPECT_EQ(simt::plans_alive(), 512);
    conv::expect_sums(y.host(), p.biased, "y");
}

TEST_F(SimulatedPlans, OfARecordingThatIsGivenUpAreNotHeld) {
    const conv::Problem p(DType::f32, small_shape);
    const DeviceBuffer x(p.x), w(p.w), bias(p.bias), y(p.dtype, p.dy.size());
    cuda::begin_capture({});
    cuda::conv2d_forward(y, x, w, bias, small_shape, {});
    cuda::abandon_capture({});
    ask_for_other_shapes();
    EXPECT_EQ(simt::plans_alive(), 512);
}

TEST_F(SimulatedPlans, OfRecurrentNetworksLiveAsLongAsTheGraphToo) {
    RecurrentNetwork n{.steps = 2, .batch = 2, .input = 3, .hidden = 4};
    const auto spaces = cuda::recurrent_spaces(n);
    ASSERT_TRUE(spaces);
    const RecurrentNetworkProblem problem(n);
    RecurrentNetworkRun run(problem, *spaces);
    run.forward();
    cuda::begin_capture({});
    run.forward();
    auto graph = cuda::end_capture({});
    RecurrentNetwork other = n;
    for (other.batch = 10; other.batch < 310; ++other.batch) cuda::recurrent_spaces(other);
    const std::int64_t held = simt::plans_alive();
    graph.reset();
    EXPECT_EQ(simt::plans_alive(), held - 1) << "the cache has dropped it: the graph held it";
}

TEST_F(SimulatedPlans, OfAConvolutionThatCannotBeMadeAreAskedForAgain) {
    LibraryFallbacks fallbacks;
    const LibraryFallbackScope recorder(&fallbacks);
    const conv::Problem p(DType::f32, small_shape);
    const DeviceBuffer x(p.x), dy(p.dy), dw(p.dtype, p.w.size());
    const auto gradient = [&] {
        cuda::conv2d_weight_gradient(dw, {nullptr, p.dtype, 0}, dy, x, small_shape, {});
        conv::expect_sums(dw.host(), p.dw_sums, "dw");
    };
    simt::fail_plans(no_driver, 2);
    gradient();
    const auto told = fallbacks.take();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(std::get<Conv2dFallback>(told[0]).pass, Conv2dPass::weight_gradient);
    EXPECT_EQ(std::get<Conv2dFallback>(told[0]).why, no_driver);
    const std::int64_t before = simt::plans_made();
    gradient();
    EXPECT_EQ(simt::plans_made(), before + 1);
    simt::configure(simt::LibrarySettings{});
    simt::fail_plans(no_memory, 2);
    EXPECT_THROW(gradient(), OutOfMemory);
    gradient();
    EXPECT_TRUE(fallbacks.take().empty());
}

TEST_F(SimulatedPlans, OfAttentionThatCannotBeMadeAreToldOnceAPassAndShape) {
    LibraryFallbacks fallbacks;
    const LibraryFallbackScope recorder(&fallbacks);
    Attention a{.dtype = DType::f16,
                .batch = 1,
                .heads = 2,
                .kv_heads = 2,
                .queries = 4,
                .keys = 4,
                .qk_size = 8,
                .v_size = 8};
    a.q = a.k = a.v = a.y = {64, 32, 8};
    simt::configure({.attention = false});
    EXPECT_FALSE(cuda::attention_workspace(a));
    a.batch = 3;
    EXPECT_FALSE(cuda::attention_workspace(a));
    a.queries = a.keys = 5;
    EXPECT_FALSE(cuda::attention_workspace(a));
    a.qk_size = 7;  // no version supports that
    EXPECT_FALSE(cuda::attention_workspace(a));
    const auto told = fallbacks.take();
    ASSERT_EQ(told.size(), 2u);
    EXPECT_EQ(std::get<AttentionFallback>(told[0]).attention.queries, 4);
    EXPECT_EQ(std::get<AttentionFallback>(told[1]).attention.queries, 5);
    EXPECT_EQ(std::get<AttentionFallback>(told[0]).why, "");
}

}  // namespace
}  // namespace kernels::test
