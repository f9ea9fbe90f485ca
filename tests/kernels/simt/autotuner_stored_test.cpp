#include "cuda/autotuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "cuda/conv2d_choice.h"
#include "kernels/conv2d_problem.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_array.h"
#include "kernels/gemm.h"
#include "kernels/measured_choice.h"
#include "kernels/thread_context.h"
#include "kernels/plan_store.h"
#include "kernels/recurrent_network_run.h"
#include "simt/device.h"
#include "simt/libraries.h"
#include "temp_folder.h"

// Races of products, convolutions and recurrent networks between the algorithms of the simulated
// libraries, which wait as long as the test says.
namespace kernels::test {
namespace {

class MeasuredPlans : public ::testing::Test {
protected:
    MeasuredPlans() { start_process(); }
    ~MeasuredPlans() override {
        set_plan_store(nullptr);
        simt::configure(simt::LibrarySettings{});
        cuda::set_device(0);
        cuda::release_workspaces();
    }

    /// As in a process that has measured nothing yet and reads what others have left.
    void start_process() {
        store.emplace(file());
        set_plan_store(&*store);
    }
    std::filesystem::path file() const { return folder.path() / "measured-plans"; }

    /// How often the libraries' algorithms run in f.
    template <typename F>
    static std::int64_t runs(const F& f) {
        const std::int64_t before = simt::algorithm_runs().count;
        f();
        cuda::synchronize({});
        return simt::algorithm_runs().count - before;
    }
    static int last() { return simt::algorithm_runs().last; }

    test_support::TempFolder folder;
    std::optional<PlanStore> store;
    const PlanRaces races;
    const PlanChoiceScope measured{{.measured = true}};
};

/// Rows differ from test to test: a shape that has a plan is not planned again.
struct MeasuredProduct {
    DType dtype;
    std::int64_t rows;
    double beta = 0;
    DeviceBuffer a{random_buffer(dtype, 16 * 24, 1)}, b{random_buffer(dtype, 24 * 32, 2)},
        c{random_buffer(dtype, 16 * 32, 3)};
    void run() const {
        cuda::gemm({c.as<void>(), dtype, rows, 32, 32}, {a.as<void>(), dtype, rows, 24, 24},
                   {b.as<void>(), dtype, 24, 32, 32}, {.beta = beta}, {});
    }
};

TEST_F(MeasuredPlans, OfAProductWithReluAreRacedAndTriedForNaN) {
    simt::configure({.algorithm_ms = {4, 0}});
    const MeasuredProduct p{DType::f16, 7};
    const auto run = [&] {
        cuda::gemm({p.c.as<void>(), p.dtype, 7, 32, 32}, {p.a.as<void>(), p.dtype, 7, 24, 24},
                   {p.b.as<void>(), p.dtype, 24, 32, 32}, {.relu = true}, {});
    };
    EXPECT_GT(runs(run), 2);
    EXPECT_EQ(runs(run), 1);
    EXPECT_EQ(last(), 1);
}

TEST_F(MeasuredPlans, AreTheLibrarysFirstChoiceWhereNoWinnerCanBeStored) {
    simt::configure({.algorithm_ms = {4, 0}});
    store.emplace(std::filesystem::path());
    const MeasuredProduct product{DType::f32, 6};
    EXPECT_EQ(runs([&] { product.run(); }), 1);
    EXPECT_EQ(last(), 0) << "winners differ from run to run";
}

TEST_F(MeasuredPlans, OfAProductAreRacedAtItsFirstCallAndTheWinnerRunsFromThenOn) {
    simt::configure({.algorithm_ms = {6, 1, 4}});
    const MeasuredProduct product{DType::f32, 9};
    EXPECT_GT(runs([&] { product.run(); }), 6);
    EXPECT_EQ(last(), 1);
    EXPECT_EQ(runs([&] { product.run(); }), 1);
    EXPECT_EQ(last(), 1);
    EXPECT_EQ(store->size(), 1u);
}

TEST_F(MeasuredPlans, OfAProductAreThoseOfEarlierRuns) {
    simt::configure({.algorithm_ms = {6, 1, 4}});
    const MeasuredProduct first{DType::f16, 8};
    first.run();
    cuda::synchronize({});
    // The second device has plans of its own, and the same name.
    cuda::set_device(1);
    start_process();
    const MeasuredProduct second{DType::f16, 8};
    simt::configure({.algorithm_ms = {0, 9, 0}});  // it would win no race now
    EXPECT_EQ(runs([&] { second.run(); }), 1);
    EXPECT_EQ(last(), 1);
}

TEST_F(MeasuredPlans, OfAProductAreRestoredWhereTheHeuristicNamesThemNoMore) {
    simt::configure({.algorithm_ms = {6, 4, 1}});
    const MeasuredProduct first{DType::f32, 15};
    first.run();
    cuda::synchronize({});
    ASSERT_EQ(last(), 2);
    const std::vector<double> expected = first.c.host().values();
    cuda::set_device(1);
    start_process();
    const MeasuredProduct second{DType::f32, 15};
    simt::configure({.algorithm_ms = {0, 0, 4}, .unnamed = 1});
    EXPECT_EQ(runs([&] { second.run(); }), 1) << "a race";
    EXPECT_EQ(last(), 2);
    EXPECT_EQ(second.c.host().values(), expected);
}

TEST_F(MeasuredPlans, OfAProductThatTheLibraryHasNoMoreAreRacedAnew) {
    simt::configure({.algorithm_ms = {6, 4, 1}});
    const MeasuredProduct first{DType::f32, 14};
    first.run();
    cuda::synchronize({});
    cuda::set_device(1);
    start_process();
    const MeasuredProduct second{DType::f32, 14};
    simt::configure({.algorithm_ms = {4, 0}});
    EXPECT_GT(runs([&] { second.run(); }), 2);
    EXPECT_EQ(last(), 1);
}

TEST_F(MeasuredPlans, AddToAProductsResultOnce) {
    std::int64_t rows = 10;
    for (const double beta : {0.0, 1.0, 0.5}) {
        const MeasuredProduct plain{DType::f32, ++rows, beta}, raced{DType::f32, rows, beta};
        {
            const PlanChoiceScope first{{}};
            plain.run();
        }
        simt::configure({.algorithm_ms = {3, 0}});
        EXPECT_GT(runs([&] { raced.run(); }), 2) << beta;
        EXPECT_EQ(raced.c.host().values(), plain.c.host().values()) << beta;
        simt::configure(simt::LibrarySettings{});
    }
}

TEST_F(MeasuredPlans, WithoutAScopeAreTheLibrarysFirst) {
    const PlanChoiceScope first{{}};
    simt::configure({.algorithm_ms = {4, 0}});
    const MeasuredProduct product{DType::f32, 6};
    EXPECT_EQ(runs([&] { product.run(); }), 1);
    EXPECT_EQ(last(), 0);
    EXPECT_EQ(store->size(), 0u);
}

TEST_F(MeasuredPlans, LeaveOutAlgorithmsThatFail) {
    simt::configure({.algorithm_ms = {5, -1, 1}});
    const MeasuredProduct product{DType::bf16, 6};
    product.run();
    cuda::synchronize({});
    EXPECT_EQ(last(), 2);
}

TEST_F(MeasuredPlans, MayDifferFromRunToRunOnlyWhereTheSettingsSaySo) {
    simt::configure({.algorithm_ms = {5, 3, 0}, .unstable = 1});
    const MeasuredProduct product{DType::f32, 5};
    product.run();
    cuda::synchronize({});
    EXPECT_EQ(last(), 1);
    const PlanChoiceScope any{{.measured = true, .bit_stable = false}};
    product.run();
    cuda::synchronize({});
    EXPECT_EQ(last(), 2);
    EXPECT_EQ(store->size(), 2u);
    const MeasuredProduct half{DType::f16, 5};
    half.run();
    cuda::synchronize({});
    EXPECT_EQ(last(), 1) << "parts of its sums would be added in 16 bits";
}

TEST_F(MeasuredPlans, AreNotRacedWhileAStepIsRecorded) {
    simt::configure({.algorithm_ms = {4, 0}});
    const MeasuredProduct product{DType::f32, 4};
    cuda::begin_capture({});
    product.run();
    auto graph = cuda::end_capture({});
    EXPECT_EQ(graph->nodes(), 1);
    EXPECT_EQ(runs([&] { graph->launch({}); }), 1);
    EXPECT_EQ(last(), 0);
    EXPECT_EQ(store->size(), 0u);
    EXPECT_GT(runs([&] { product.run(); }), 2) << "the question stays open";
    EXPECT_EQ(last(), 1);
    cuda::begin_capture({});
    product.run();
    graph = cuda::end_capture({});
    EXPECT_EQ(runs([&] { graph->launch({}); }), 1);
    EXPECT_EQ(last(), 1) << "the winner so far";
    graph.reset();
}

TEST_F(MeasuredPlans, SayWhoComputed) {
    simt::configure({.algorithm_ms = {4, 0}});
    const MeasuredProduct product{DType::f32, 3};
    std::vector<std::string> used;
    {
        const PlanUseScope scope(&used);
        product.run();
    }
    product.run();
    EXPECT_THAT(used, testing::ElementsAre("cuBLASLt algorithm 1"));
}

struct Convolution {
    conv::Problem problem;
    DeviceBuffer x{problem.x}, w{problem.w}, dy{problem.dy};
    DeviceBuffer y{problem.dtype, problem.dy.size()}, dx{problem.dtype, problem.x.size()},
        dw{problem.dtype, problem.w.size()}, bias{problem.bias};

    Convolution(DType dtype, std::int64_t n)
        : problem(dtype, {.n = n, .c = 4, .h = 6, .w = 5, .k = 4, .r = 3, .s = 3, .pad_h = 1}) {}
    void run() const {
        cuda::conv2d_forward(y, x, w, bias, problem.shape, {});
        cuda::conv2d_data_gradient(dx, dy, w, problem.shape, {});
        cuda::conv2d_weight_gradient(dw, {nullptr, problem.dtype, 0}, dy, x, problem.shape, {});
    }
    void check() const {
        conv::expect_sums(y.host(), problem.biased, "y");
        conv::expect_sums(dx.host(), problem.dx_sums, "dx");
        conv::expect_sums(dw.host(), problem.dw_sums, "dw");
    }
};

TEST_F(MeasuredPlans, OfConvolutionsAreRacedOnceAndStored) {
    for (const DType dtype : {DType::f32, DType::f16}) {
        simt::configure({.algorithm_ms = {5, 3, 0}});
        const Convolution convolution(dtype, 3);
        EXPECT_GT(runs([&] { convolution.run(); }), 3 * 6);
        EXPECT_EQ(last(), 2);
        convolution.check();
        EXPECT_EQ(runs([&] { convolution.run(); }), 3);
        EXPECT_EQ(last(), 2);
        cuda::set_device(1);
        start_process();
        const Convolution later(dtype, 3);
        simt::configure({.algorithm_ms = {0, 0, 4}});
        EXPECT_EQ(runs([&] { later.run(); }), 3);
        EXPECT_EQ(last(), 2);
        later.check();
        cuda::set_device(0);
    }
    EXPECT_EQ(store->size(), 6u);
}

TEST_F(MeasuredPlans, OfConvolutionsLeaveNoPlanOfALoserBehind) {
    simt::configure({.algorithm_ms = {3, 0, 3}});
    const Convolution other(DType::f32, 9), convolution(DType::f32, 4);
    other.run();  // plans of other settings go
    cuda::synchronize({});
    const std::int64_t before = simt::plans_alive();
    convolution.run();
    cuda::synchronize({});
    EXPECT_EQ(simt::plans_alive(), before + 3) << "one a pass";
}

TEST_F(MeasuredPlans, OfConvolutionsThatHaveGoneAreRacedAnew) {
    simt::configure({.algorithm_ms = {5, 5, 0}});
    const Convolution convolution(DType::f32, 5);
    convolution.run();
    cuda::synchronize({});
    ASSERT_EQ(last(), 2);
    cuda::set_device(1);
    start_process();
    const Convolution later(DType::f32, 5);
    simt::configure({.algorithm_ms = {4, 0, -1}});
    EXPECT_GT(runs([&] { later.run(); }), 3);
    EXPECT_EQ(last(), 1);
    later.check();
    start_process();
    EXPECT_EQ(store->size(), 3u);
    const auto graph = cuda::describe(cuda::ConvOperation::forward, convolution.problem.shape,
                                      DType::f32, true, false);
    EXPECT_EQ(cuda::stored_winner(text(graph), "cuDNN"), "engine 1");
}

TEST_F(MeasuredPlans, OfConvolutionsAreNotRacedWhileAStepIsRecorded) {
    simt::configure({.algorithm_ms = {4, 0}});
    const Convolution convolution(DType::f32, 6);
    cuda::begin_capture({});
    convolution.run();
    const auto graph = cuda::end_capture({});
    EXPECT_EQ(runs([&] { graph->launch({}); }), 3);
    EXPECT_EQ(last(), 0);
    convolution.check();
    EXPECT_EQ(store->size(), 0u);
    convolution.run();
    cuda::synchronize({});
    EXPECT_EQ(last(), 1);
}

TEST_F(MeasuredPlans, OfConvolutionsLeaveTheStreamTheWinnersScratch) {
    cuda::release_workspaces();
    simt::configure(
        {.convolution_scratch = 4 << 20, .racers_scratch = 1000, .algorithm_ms = {4, 0}});
    const Convolution convolution(DType::f32, 8);
    convolution.run();
    convolution.check();
    ASSERT_EQ(last(), 1);
    EXPECT_LT(cuda::workspace_bytes(), 1 << 20) << "a loser's scratch is kept";
}

TEST_F(MeasuredPlans, OfConvolutionsFindNoRoomForARaceAndGoOn) {
    simt::configure({.convolution_scratch = 40 << 20, .algorithm_ms = {2, 0}});
    simt::configure(simt::DeviceSettings{.memory_bytes = 60 << 20});
    const Convolution convolution(DType::f32, 7);
    {
        const PlanChoiceScope first{{}};
        convolution.run();  // takes the stream's scratch
    }
    convolution.run();  // finds no room for the racers'
    convolution.check();
    EXPECT_EQ(last(), 0);
    EXPECT_EQ(store->size(), 0u);
    cuda::release_workspaces();
    simt::configure(simt::DeviceSettings{});
}

TEST_F(MeasuredPlans, OfRecurrentNetworksAreThePersistentOnesWhereTheyAreFaster) {
    simt::configure({.algorithm_ms = {90, 0, 0, 1}});  // those between do not suit the network
    const RecurrentNetwork n{
        .steps = 3, .batch = 2, .input = 3, .hidden = 4, .layers = 2, .measured = true};
    std::optional<RecurrentSpaces> spaces;
    EXPECT_GT(runs([&] { spaces = cuda::recurrent_spaces(n); }), 5);
    ASSERT_TRUE(spaces);
    EXPECT_EQ(store->size(), 1u);
    const RecurrentNetworkProblem problem(n);
    RecurrentNetworkRun run(problem, *spaces);
    std::vector<std::string> used;
    {
        const PlanUseScope scope(&used);
        EXPECT_EQ(runs([&] { run.forward(); }), 1);
    }
    EXPECT_EQ(last(), 3);
    EXPECT_THAT(used, testing::ElementsAre("cuDNN persist-static-small-h"));
    cuda::set_device(1);
    start_process();
    simt::configure({.algorithm_ms = {0, 0, 0, 4}});
    EXPECT_EQ(runs([&] { cuda::recurrent_spaces(n); }), 0) << "an earlier run has measured it";
    cuda::set_device(0);
}

TEST_F(MeasuredPlans, OfRecurrentNetworksAreTheStandardOneWhereTheLibraryHasNoOther) {
    simt::configure({.algorithm_ms = {2, -1, -1, -1}});
    const RecurrentNetwork n{.steps = 2, .batch = 3, .input = 3, .hidden = 4, .measured = true};
    EXPECT_EQ(runs([&] { EXPECT_TRUE(cuda::recurrent_spaces(n)); }), 0);
    EXPECT_EQ(store->size(), 0u);
}

TEST_F(MeasuredPlans, OfRecurrentNetworksAreTheStandardOneInARecording) {
    simt::configure({.algorithm_ms = {4, 0, 0, 0}});
    const RecurrentNetwork n{.steps = 2, .batch = 4, .input = 3, .hidden = 4, .measured = true};
    cuda::begin_capture({});
    EXPECT_TRUE(cuda::recurrent_spaces(n));
    cuda::abandon_capture({});
    EXPECT_EQ(store->size(), 0u);
}

}  // namespace
}  // namespace kernels::test
