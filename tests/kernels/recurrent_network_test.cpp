#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/measured_choice.h"
#include "kernels/recurrent_network_run.h"

namespace kernels::test {
namespace {

/// cuDNN supports bf16 from compute capability 8.0 on.
bool may_be_refused(const RecurrentNetwork& n) {
    return n.dtype == DType::bf16 && cuda::device_info(cuda::current_device()).major < 8;
}

/// Frees its memory, since other tests count the device's memory.
class CudaRecurrentNetwork : public ::testing::Test {
protected:
    ~CudaRecurrentNetwork() override { cuda::release_workspaces(); }
};

TEST_F(CudaRecurrentNetwork, AgreesWithDoubleForEveryCellTypeDepthAndDirection) {
    HALFTONE_NEEDS_CUDA();
    for_each_recurrent_network([](const RecurrentNetwork& n) {
        SCOPED_TRACE(to_string(n));
        const auto spaces = cuda::recurrent_spaces(n);
        if (!spaces && may_be_refused(n)) return;
        ASSERT_TRUE(spaces);
        expect_the_references_results(n, *spaces, n.layers != 2);
    });
}

using CudaRecurrentNetworkRace = CudaRecurrentNetwork;

TEST_F(CudaRecurrentNetworkRace, AgreesWithDouble) {
    HALFTONE_NEEDS_CUDA();
    const MeasuredChoice measured;
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru})
        for (const DType dtype : {DType::f32, DType::f16})
            for (const std::int64_t layers : {1, 2}) {
                const RecurrentNetwork n{.cell = cell,
                                         .dtype = dtype,
                                         .steps = 4,
                                         .batch = 16,
                                         .input = 32,
                                         .hidden = 32,
                                         .layers = layers,
                                         .measured = true};
                SCOPED_TRACE(to_string(n));
                const auto spaces = cuda::recurrent_spaces(n);
                ASSERT_TRUE(spaces);
                expect_the_references_results(n, *spaces, true);
            }
}

// Weights are moved there once, for all sequences.
TEST_F(CudaRecurrentNetwork, KeepsWeightsInPlacesThatDoNotDependOnTheSequences) {
    HALFTONE_NEEDS_CUDA();
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru})
        for (const DType dtype : {DType::f32, DType::f16})
            for (const bool both : {false, true}) {
                RecurrentNetwork n{.cell = cell,
                                   .dtype = dtype,
                                   .steps = 1,
                                   .batch = 1,
                                   .input = 64,
                                   .hidden = 200,
                                   .layers = 2,
                                   .bidirectional = both};
                SCOPED_TRACE(to_string(n));
                const auto one = cuda::recurrent_spaces(n);
                n.steps = 35;
                n.batch = 20;
                const auto many = cuda::recurrent_spaces(n);
                n.training = false;
                n.tf32 = dtype == DType::f32;
                const auto evaluated = cuda::recurrent_spaces(n);
                ASSERT_TRUE(one && many && evaluated);
                EXPECT_EQ(one->places.size(), both ? 16u : 8u);
                EXPECT_EQ(many->places, one->places);
                EXPECT_EQ(evaluated->places, one->places);
                EXPECT_EQ(evaluated->weights, one->weights);
            }
}

TEST_F(CudaRecurrentNetwork, NeedsNoReserveOutsideTraining) {
    HALFTONE_NEEDS_CUDA();
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru}) {
        const RecurrentNetworkProblem problem({.cell = cell,
                                               .steps = 3,
                                               .batch = 2,
                                               .input = 4,
                                               .hidden = 8,
                                               .layers = 2,
                                               .training = false});
        const auto spaces = cuda::recurrent_spaces(problem.n);
        ASSERT_TRUE(spaces);
        EXPECT_EQ(spaces->reserve, 0u);
        RecurrentNetworkRun run(problem, *spaces);
        ASSERT_TRUE(run.forward());
        run.expect_outputs(RecurrentNetworkReference(problem, false).run());
    }
}

TEST_F(CudaRecurrentNetwork, GivesTheSameBitsAgainAndAfterAForwardPassBetweenTwoBackwardPasses) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : {DType::f32, DType::f16}) {
        const RecurrentNetworkProblem problem({.cell = RecurrentCell::lstm,
                                               .dtype = dtype,
                                               .steps = 9,
                                               .batch = 16,
                                               .input = 40,
                                               .hidden = 24,
                                               .layers = 2,
                                               .bidirectional = true});
        const auto spaces = cuda::recurrent_spaces(problem.n);
        ASSERT_TRUE(spaces);
        RecurrentNetworkRun run(problem, *spaces);
        ASSERT_TRUE(run.forward() && run.backward(true));
        const auto first = run.bytes();
        ASSERT_TRUE(run.forward() && run.backward(true));
        EXPECT_EQ(run.bytes(), first);
    }
}

TEST_F(CudaRecurrentNetwork, WaitsForNothing) {
    HALFTONE_NEEDS_CUDA();
    const RecurrentNetworkProblem problem({.cell = RecurrentCell::gru,
                                           .dtype = DType::f16,
                                           .steps = 4,
                                           .batch = 8,
                                           .input = 8,
                                           .hidden = 8});
    const auto spaces = cuda::recurrent_spaces(problem.n);
    ASSERT_TRUE(spaces);
    RecurrentNetworkRun run(problem, *spaces);
    ASSERT_TRUE(run.forward() && run.backward(true));
    const cuda::CallCounts before = cuda::call_counts();
    ASSERT_TRUE(run.forward() && run.backward(true));
    const cuda::CallCounts after = cuda::call_counts();
    EXPECT_EQ(after.synchronizations, before.synchronizations);
    EXPECT_EQ(after.allocations, before.allocations);
}

TEST_F(CudaRecurrentNetwork, MayBeRecordedInAGraph) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : {DType::f32, DType::f16}) {
        const RecurrentNetworkProblem problem({.cell = RecurrentCell::lstm,
                                               .dtype = dtype,
                                               .steps = 4,
                                               .batch = 8,
                                               .input = 16,
                                               .hidden = 8,
                                               .layers = 2,
                                               .bidirectional = true});
        const auto spaces = cuda::recurrent_spaces(problem.n);
        ASSERT_TRUE(spaces);
        RecurrentNetworkRun eager(problem, *spaces), recorded(problem, *spaces);
        ASSERT_TRUE(eager.forward() && eager.backward(true));
        cuda::begin_capture({});
        const bool ran = recorded.forward() && recorded.backward(true);
        const auto graph = cuda::end_capture({});
        ASSERT_TRUE(ran);
        EXPECT_NE(recorded.bytes(), eager.bytes());  // nothing has run yet
        for (int turn = 0; turn < 2; ++turn) {
            graph->launch({});
            EXPECT_EQ(recorded.bytes(), eager.bytes()) << "turn " << turn;
        }
    }
}

}  // namespace
}  // namespace kernels::test
