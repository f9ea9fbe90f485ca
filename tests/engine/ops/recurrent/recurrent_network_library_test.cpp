#include <gtest/gtest.h>

#include "autograd/backward.h"
#include "recurrent_call.h"
#include "simt/libraries.h"

// Cases that only the simulated library can produce: networks that it rejects are computed layer by
// layer. A rejected network is not requested again, so each test has shapes of its own.
namespace engine {
namespace {

using namespace test;
using kernels::simt::LibrarySettings;

class RecurrentLibrary : public ::testing::Test {
protected:
    RecurrentLibrary() { set_default_device(cuda); }
    ~RecurrentLibrary() override {
        kernels::simt::configure(LibrarySettings{});
        set_default_device({});
    }
    /// The settings apply to the backward pass only, or to both passes.
    static void expect_good(std::int64_t input, const LibrarySettings& settings, bool before) {
        for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru})
            for (const DType dtype : kernels::test::floating) {
                kernels::simt::configure(before ? settings : LibrarySettings{});
                const RecurrentNetworkProblem problem({.cell = cell,
                                                       .dtype = dtype,
                                                       .steps = 3,
                                                       .batch = 2,
                                                       .input = input,
                                                       .hidden = 3,
                                                       .layers = 2,
                                                       .bidirectional = true});
                SCOPED_TRACE(kernels::test::to_string(problem.n));
                const auto expected = RecurrentNetworkReference(problem, true).run();
                const ProblemCall call(problem);
                const TensorList outputs = call.run();
                expect_recurrent_outputs(outputs, expected);
                kernels::simt::configure(settings);
                expect_recurrent_gradients(grad(outputs, call.leaves(), call.seeds()), expected);
            }
    }
    static inline const Device cuda{Device::Kind::cuda, 0};
};

TEST_F(RecurrentLibrary, MayPlanNoNetwork) { expect_good(2, {.recurrent = false}, true); }
TEST_F(RecurrentLibrary, MayRefuseToRun) { expect_good(3, {.recurrent_runs = false}, true); }
TEST_F(RecurrentLibrary, MayRefuseTheBackwardPassAlone) {
    expect_good(4, {.recurrent_backward = false}, false);
}
TEST_F(RecurrentLibrary, MayRefuseTheForwardPassThatASecondBackwardPassNeeds) {
    const RecurrentNetworkProblem problem(
        {.cell = RecurrentCell::lstm, .steps = 3, .batch = 2, .input = 5, .hidden = 3});
    const auto expected = RecurrentNetworkReference(problem, true).run();
    const ProblemCall call(problem);
    const TensorList outputs = call.run();
    grad(outputs, call.leaves(), call.seeds(), {.retain_graph = true});
    kernels::simt::configure({.recurrent_runs = false});
    expect_recurrent_gradients(grad(outputs, call.leaves(), call.seeds()), expected);
}
TEST_F(RecurrentLibrary, MayKeepItsStepsInF32) { expect_good(6, {.recurrent_wide = true}, true); }

}  // namespace
}  // namespace engine
