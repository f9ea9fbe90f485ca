#include <algorithm>

#include "cuda/cudnn_rnn_plan.h"
#include "kernels/cuda_graph.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"
#include "kernels/recurrent_network_run.h"
#include "simt/device.h"
#include "simt/libraries.h"

// Cases of recurrent networks that only the simulated library can produce.
namespace kernels::test {
namespace {

/// Frees its memory, since other tests count the device's memory. A network with a plan is not
/// planned again, so each test uses its own shapes.
class SimulatedRecurrentNetwork : public ::testing::Test {
protected:
    ~SimulatedRecurrentNetwork() override {
        simt::configure(simt::LibrarySettings{});
        cuda::release_workspaces();
    }
    static RecurrentNetwork network(std::int64_t input, RecurrentCell cell = RecurrentCell::lstm,
                                    DType dtype = DType::f32) {
        return {.cell = cell, .dtype = dtype, .steps = 3, .batch = 2, .input = input, .hidden = 4};
    }
    static void expect_good(const RecurrentNetwork& n) {
        SCOPED_TRACE(to_string(n));
        const auto spaces = cuda::recurrent_spaces(n);
        ASSERT_TRUE(spaces);
        expect_the_references_results(n, *spaces, true);
    }
};

TEST_F(SimulatedRecurrentNetwork, FindsWeightsThatLieApart) {
    simt::configure({.recurrent_scattered = true});
    for (RecurrentNetwork n : {network(11), network(12, RecurrentCell::gru, DType::f16),
                               network(13, RecurrentCell::rnn_tanh, DType::f64)})
        for (const std::int64_t layers : {1, 2}) {
            n.layers = layers;
            n.bidirectional = layers == 2;
            expect_good(n);
        }
}

TEST_F(SimulatedRecurrentNetwork, CopiesAParameterAtOnceWhereItsGatesLieTogether) {
    const auto nodes = [](const RecurrentNetwork& n) {
        const RecurrentNetworkProblem problem(n);
        RecurrentNetworkRun run(problem, *cuda::recurrent_spaces(n));
        run.forward();
        cuda::begin_capture({});
        run.forward();
        return cuda::end_capture({})->nodes();
    };
    EXPECT_EQ(nodes(network(21)), 4 + 1);
    simt::configure({.recurrent_scattered = true});
    // Four parameters of four gates each, and the gaps that are zeroed.
    EXPECT_EQ(nodes(network(22)), 4 * 4 + 1 + 1);
}

/// The ends of what lies from these places on.
std::vector<std::size_t> ends_of(const std::vector<std::size_t>& places,
                                 const std::vector<Buffer>& params) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < places.size(); ++i)
        out.push_back(places[i] + params[i].bytes().size());
    return out;
}

TEST_F(SimulatedRecurrentNetwork, TellsWhereParametersLieThatAreWholeAndAligned) {
    for (const bool both : {false, true}) {
        RecurrentNetwork n = network(14);
        n.layers = 2;
        n.bidirectional = both;
        const RecurrentNetworkProblem problem(n);
        const auto spaces = cuda::recurrent_spaces(n);
        ASSERT_TRUE(spaces);
        std::vector<std::size_t> begins = spaces->places;
        std::vector<std::size_t> ends = ends_of(begins, problem.params);
        ASSERT_EQ(ends.size(), problem.params.size());
        std::sort(begins.begin(), begins.end());
        std::sort(ends.begin(), ends.end());
        EXPECT_EQ(begins.front(), 0u);
        EXPECT_EQ(ends.back(), spaces->weights);
        for (std::size_t i = 1; i < begins.size(); ++i) EXPECT_EQ(begins[i], ends[i - 1]);
    }
    const auto places = [](const RecurrentNetwork& n) {
        return cuda::recurrent_spaces(n).value().places.size();
    };
    RecurrentNetwork odd = network(15, RecurrentCell::gru, DType::f16);
    EXPECT_EQ(places(odd), 0u) << "the biases have 24 bytes each";
    odd.hidden = 8;
    EXPECT_EQ(places(odd), 4u);
    simt::configure({.recurrent_scattered = true});
    EXPECT_EQ(places(network(16)), 0u) << "gates lie apart";
    EXPECT_EQ(places(network(16, RecurrentCell::rnn_tanh)), 4u) << "there is one gate";
}

/// The block of all weights as the library takes it, made by another run.
void put_weights(RecurrentNetworkRun& run, const RecurrentNetworkRun& from) {
    const Buffer block = from.weights.host();
    cuda::copy_to_device(run.weights.array().data, block.bytes().data(), block.bytes().size(), {});
    run.param_pointers.clear();
}

/// Gradients that `run` leaves in its block, by parameter.
std::vector<std::vector<unsigned char>> gradients_in_block(const RecurrentNetworkRun& run,
                                                           const std::vector<std::size_t>& places) {
    const Buffer block = run.d_weights.host();
    const auto ends = ends_of(places, run.p.params);
    std::vector<std::vector<unsigned char>> out;
    for (std::size_t i = 0; i < places.size(); ++i)
        out.emplace_back(block.bytes().begin() + static_cast<std::ptrdiff_t>(places[i]),
                         block.bytes().begin() + static_cast<std::ptrdiff_t>(ends[i]));
    return out;
}

TEST_F(SimulatedRecurrentNetwork, CopiesNothingWhereTheCallerHasItsOrder) {
    const auto nodes = [](const auto& pass) {
        cuda::begin_capture({});
        EXPECT_TRUE(pass());
        return cuda::end_capture({})->nodes();
    };
    for (const bool scattered : {false, true})
        for (const DType dtype : floating) {
            simt::configure({.recurrent_scattered = scattered});
            RecurrentNetwork n = network(
                17 + scattered, scattered ? RecurrentCell::rnn_tanh : RecurrentCell::lstm, dtype);
            n.hidden = 8;
            n.layers = 2;
            const auto spaces = cuda::recurrent_spaces(n);
            ASSERT_TRUE(spaces && spaces->places.size() == 8u);
            const RecurrentNetworkProblem problem(n);
            RecurrentNetworkRun apart(problem, *spaces), own(problem, *spaces);
            ASSERT_TRUE(apart.forward());
            put_weights(own, apart);
            EXPECT_EQ(nodes([&] { return own.forward(); }), 1);
            ASSERT_TRUE(own.forward() && apart.backward(true));
            own.d_param_pointers.clear();
            ASSERT_TRUE(own.backward(true));
            const auto expected = apart.bytes(), found = own.bytes();
            for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i], expected[i]) << i;
            EXPECT_EQ(gradients_in_block(own, spaces->places),
                      std::vector(expected.begin() + 4, expected.end()));
            EXPECT_EQ(nodes([&] { return own.backward(true); }), 3) << "one zeroes the block";
            EXPECT_EQ(nodes([&] { return apart.backward(true); }), 3 + 8);
        }
}

TEST_F(SimulatedRecurrentNetwork, MayKeepItsStepsInF32) {
    simt::configure({.recurrent_wide = true});
    for (const auto cell : {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru})
        for (const DType dtype : {DType::f16, DType::bf16}) {
            RecurrentNetwork n = network(31, cell, dtype);
            n.layers = 2;
            n.bidirectional = true;
            expect_good(n);
        }
}

TEST_F(SimulatedRecurrentNetwork, IsRefusedWhereTheLibraryDoesNotSupportIt) {
    simt::configure({.recurrent = false});
    EXPECT_FALSE(cuda::recurrent_spaces(network(41)));
    RecurrentNetwork huge = network(42);
    huge.hidden = std::int64_t{1} << 32;
    simt::configure(simt::LibrarySettings{});
    EXPECT_FALSE(cuda::recurrent_spaces(huge));
}

TEST_F(SimulatedRecurrentNetwork, IsNotAskedForAgainOnceItHasRefusedToRun) {
    for (const bool backward : {false, true}) {
        const RecurrentNetwork n = network(backward ? 51 : 52);
        const auto spaces = cuda::recurrent_spaces(n);
        ASSERT_TRUE(spaces);
        const RecurrentNetworkProblem problem(n);
        RecurrentNetworkRun run(problem, *spaces);
        simt::configure({.recurrent_runs = backward, .recurrent_backward = !backward});
        EXPECT_EQ(run.forward(), backward);
        EXPECT_FALSE(backward && run.backward(true));
        simt::configure(simt::LibrarySettings{});
        EXPECT_FALSE(cuda::recurrent_spaces(n));
        EXPECT_FALSE(run.forward());
    }
}

TEST_F(SimulatedRecurrentNetwork, AsksTheLibraryOnceForANetwork) {
    const std::int64_t before = simt::plans_made();
    const RecurrentNetwork n = network(61);
    cuda::recurrent_spaces(n);
    cuda::recurrent_spaces(n);
    EXPECT_EQ(simt::plans_made(), before + 1);
    const auto made = [&](auto change) {
        const std::int64_t so_far = simt::plans_made();
        RecurrentNetwork other = n;
        change(other);
        cuda::recurrent_spaces(other);
        return simt::plans_made() - so_far;
    };
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.cell = RecurrentCell::gru; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.dtype = DType::f64; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.steps = 9; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.batch = 9; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.hidden = 9; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.layers = 9; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.bidirectional = true; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.biases = false; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.tf32 = true; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.training = false; }), 1);
    // Only f32 can be computed as TF32.
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.dtype = DType::f16, o.tf32 = true; }), 1);
    EXPECT_EQ(made([](RecurrentNetwork& o) { o.dtype = DType::f16; }), 0);
}

// The library is queried with memory as large as all weights, which is used only as an address.
TEST_F(SimulatedRecurrentNetwork, KeepsNoScratchOfTheLookForItsWeights) {
    RecurrentNetwork n = network(81);
    n.hidden = 160;
    const std::int64_t held = simt::device_bytes();
    const auto spaces = cuda::recurrent_spaces(n);
    ASSERT_TRUE(spaces);
    EXPECT_GT(spaces->weights, std::size_t{512} << 10);
    EXPECT_EQ(simt::device_bytes(), held);
    EXPECT_EQ(cuda::workspace_bytes(), 0);
}

TEST_F(SimulatedRecurrentNetwork, HasMemoryGivenBackForAPlanAndRemembersNoWantOfIt) {
    static int given_back = 0;
    cuda::set_cache_trimmer([](int) { ++given_back; });
    simt::fail_plans("none", 1);
    EXPECT_TRUE(cuda::recurrent_spaces(network(91)));
    EXPECT_EQ(given_back, 1);
    simt::fail_plans("none", 2);
    EXPECT_THROW(cuda::recurrent_spaces(network(92)), OutOfMemory);
    EXPECT_TRUE(cuda::recurrent_spaces(network(92)));
    EXPECT_EQ(given_back, 2);
    cuda::set_cache_trimmer(nullptr);
}

TEST_F(SimulatedRecurrentNetwork, SpoilsTheReserveInItsBackwardPass) {
    const RecurrentNetwork n = network(71);
    const RecurrentNetworkProblem problem(n);
    RecurrentNetworkRun run(problem, *cuda::recurrent_spaces(n));
    ASSERT_TRUE(run.forward() && run.backward(true));
    const auto first = run.bytes();
    ASSERT_TRUE(run.backward(true));
    EXPECT_NE(run.bytes(), first);
}

}  // namespace
}  // namespace kernels::test
