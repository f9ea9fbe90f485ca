#include "kernels/carry_state.h"
#include "kernels/cuda_graph.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/support.h"

namespace kernels::test {
namespace {

/// One tensor's state, as a step produces it.
struct State {
    Buffer from;
    std::int64_t layers, width;
};

State random_state(DType dtype, std::int64_t layers, std::int64_t streams, std::int64_t width,
                   unsigned seed) {
    return {random_buffer(dtype, layers * streams * width, seed), layers, width};
}

/// The carried state, and how often a stream was zeroed.
struct Carried {
    std::vector<Buffer> to;
    std::int64_t resets = 0;
};

/// Computes the definition, slowly, value by value.
Carried reference_states(const std::vector<State>& states, std::int64_t streams,
                         std::int64_t resets) {
    std::vector<bool> finite(static_cast<std::size_t>(streams), true);
    const auto stream_of = [&](const State& state, std::int64_t i) {
        return static_cast<std::size_t>(i / state.width % streams);
    };
    for (const State& state : states)
        for (std::int64_t i = 0; i < state.from.size(); ++i)
            if (!std::isfinite(static_cast<float>(state.from.get(i))))
                finite[stream_of(state, i)] = false;
    Carried result{{}, resets + std::count(finite.begin(), finite.end(), false)};
    for (const State& state : states) {
        Buffer to(DType::f32, state.from.size());
        for (std::int64_t i = 0; i < to.size(); ++i)
            to.set(i, finite[stream_of(state, i)] ? state.from.get(i) : 0);
        result.to.push_back(to);
    }
    return result;
}

void expect_equal_states(const Carried& actual, const Carried& expected) {
    EXPECT_EQ(actual.resets, expected.resets);
    ASSERT_EQ(actual.to.size(), expected.to.size());
    for (std::size_t t = 0; t < expected.to.size(); ++t)
        EXPECT_EQ(actual.to[t].bytes(), expected.to[t].bytes()) << "tensor " << t;
}

Carried carried_on_cpu(const std::vector<State>& states, std::int64_t streams,
                       std::int64_t resets) {
    Carried result{{}, resets};
    for (const State& state : states) result.to.emplace_back(DType::f32, state.from.size());
    std::vector<CarriedTensor> tensors;
    for (std::size_t t = 0; t < states.size(); ++t)
        tensors.push_back(
            {result.to[t].as<float>(), states[t].from, states[t].layers, states[t].width});
    cpu::carry_state(tensors, streams, &result.resets, {});
    return result;
}

Carried carried_on_cuda(const std::vector<State>& states, std::int64_t streams,
                        std::int64_t resets) {
    std::vector<std::unique_ptr<DeviceBuffer>> from, to;
    std::vector<CarriedTensor> tensors;
    for (const State& state : states) {
        from.push_back(std::make_unique<DeviceBuffer>(state.from));
        to.push_back(std::make_unique<DeviceBuffer>(DType::f32, state.from.size()));
        tensors.push_back({to.back()->as<float>(), *from.back(), state.layers, state.width});
    }
    const DeviceValue<std::int64_t> count(resets);
    cuda::carry_state(tensors, streams, count.get(), {});
    Carried result{{}, count.host()};
    for (const auto& tensor : to) result.to.push_back(tensor->host());
    return result;
}

using Carry = Carried(const std::vector<State>&, std::int64_t, std::int64_t);

void expect_copies_finite_state(Carry* carry) {
    for (const DType dtype : floating) {
        for (const std::int64_t streams : {1, 3, 20}) {
            const std::vector<State> states = {random_state(dtype, 2, streams, 5, 1),
                                               random_state(DType::f32, 2, streams, 5, 2)};
            const Carried carried = carry(states, streams, 4);
            EXPECT_EQ(carried.resets, 4);
            expect_equal_states(carried, reference_states(states, streams, 4));
        }
    }
}

/// Two layers of three streams. Element 1 of stream 1 in layer 1 of one tensor is non-finite.
void expect_zeroes_one_stream(Carry* carry, DType dtype, double broken, std::size_t in) {
    std::vector<State> states = {random_state(dtype, 2, 3, 4, 1), random_state(dtype, 2, 3, 4, 2),
                                 random_state(dtype, 1, 3, 7, 3)};
    const State& state = states[in];
    states[in].from.set(((state.layers - 1) * 3 + 1) * state.width + 1, broken);
    const Carried carried = carry(states, 3, 10);
    EXPECT_EQ(carried.resets, 11);
    expect_equal_states(carried, reference_states(states, 3, 10));
    for (std::size_t t = 0; t < states.size(); ++t)
        for (std::int64_t i = 0; i < carried.to[t].size(); ++i) {
            const bool zeroed = i / states[t].width % 3 == 1;
            ASSERT_EQ(carried.to[t].get(i), zeroed ? 0 : states[t].from.get(i)) << t << ' ' << i;
        }
}

void expect_zeroes_broken_streams(Carry* carry) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const double broken : {std::nan(""), HUGE_VAL, -HUGE_VAL})
            for (const std::size_t in : {0u, 1u, 2u})
                expect_zeroes_one_stream(carry, dtype, broken, in);
}

void expect_counts_streams(Carry* carry) {
    std::vector<State> states = {random_state(DType::f16, 3, 9, 6, 1),
                                 random_state(DType::f16, 3, 9, 6, 2)};
    // Streams 0, 4 and 8. Stream 4 is zeroed in both tensors and all layers.
    states[0].from.set(0, std::nan(""));
    states[1].from.set(8 * 6 + 5, HUGE_VAL);
    for (State& state : states)
        for (const std::int64_t layer : {0, 1, 2})
            state.from.set((layer * 9 + 4) * 6 + 3, -HUGE_VAL);
    const Carried carried = carry(states, 9, 0);
    EXPECT_EQ(carried.resets, 3);
    expect_equal_states(carried, reference_states(states, 9, 0));
}

/// Tensors of different types, as many as a network can have, wider than a block.
void expect_carries_the_most_tensors(Carry* carry) {
    std::vector<State> states = {
        random_state(DType::f32, 1, 5, 300, 1), random_state(DType::f16, 2, 5, 300, 2),
        random_state(DType::bf16, 3, 5, 1, 3), random_state(DType::f64, 1, 5, 600, 4)};
    states[2].from.set(14, std::nan(""));
    states[3].from.set(0, 1e300);  // exceeds f32
    const Carried carried = carry(states, 5, 0);
    EXPECT_EQ(carried.resets, 2);
    expect_equal_states(carried, reference_states(states, 5, 0));
}

void expect_leaves_no_streams(Carry* carry) {
    EXPECT_EQ(carry({random_state(DType::f32, 2, 0, 4, 1)}, 0, 6).resets, 6);
    EXPECT_EQ(carry({}, 3, 6).resets, 6);
}

TEST(CarryState, CopiesFiniteState) { expect_copies_finite_state(carried_on_cpu); }
TEST(CarryState, ZeroesABrokenStreamInAllTensors) { expect_zeroes_broken_streams(carried_on_cpu); }
TEST(CarryState, CountsEachStreamOnce) { expect_counts_streams(carried_on_cpu); }
TEST(CarryState, TakesTensorsOfDifferentTypesAndSizes) {
    expect_carries_the_most_tensors(carried_on_cpu);
}
TEST(CarryState, LeavesTheCountWithoutStreams) { expect_leaves_no_streams(carried_on_cpu); }

TEST(CarryState, KeepsValuesThatAreLargeOrSubnormal) {
    const std::vector<State> states = {{Buffer(DType::f32, {3e38, -1e-45}), 1, 2}};
    const Carried carried = carried_on_cpu(states, 1, 0);
    EXPECT_EQ(carried.resets, 0);
    EXPECT_EQ(carried.to[0].bytes(), states[0].from.bytes());
}

TEST(CarryState, DoesNotDependOnTheThreads) {
    std::vector<State> states = {random_state(DType::f16, 2, 101, 30, 1)};
    for (std::int64_t i = 0; i < states[0].from.size(); i += 97)
        states[0].from.set(i, std::nan(""));
    const Carried expected = reference_states(states, 101, 1);
    with_threads([&](int) { expect_equal_states(carried_on_cpu(states, 101, 1), expected); });
}

TEST(CudaCarryState, CopiesFiniteState) {
    HALFTONE_NEEDS_CUDA();
    expect_copies_finite_state(carried_on_cuda);
}

TEST(CudaCarryState, ZeroesABrokenStreamInAllTensors) {
    HALFTONE_NEEDS_CUDA();
    expect_zeroes_broken_streams(carried_on_cuda);
}

TEST(CudaCarryState, CountsEachStreamOnce) {
    HALFTONE_NEEDS_CUDA();
    expect_counts_streams(carried_on_cuda);
}

TEST(CudaCarryState, TakesTensorsOfDifferentTypesAndSizes) {
    HALFTONE_NEEDS_CUDA();
    expect_carries_the_most_tensors(carried_on_cuda);
}

TEST(CudaCarryState, LeavesTheCountWithoutStreams) {
    HALFTONE_NEEDS_CUDA();
    expect_leaves_no_streams(carried_on_cuda);
}

TEST(CudaCarryState, CarriesOnInEachReplayOfARecording) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer from(Buffer(DType::f16, {1, 2})), to(DType::f32, 2);
    const DeviceBuffer resets(Buffer(DType::i64, {0}));
    const std::vector<CarriedTensor> tensors = {{to.as<float>(), from, 1, 1}};
    cuda::begin_capture({});
    cuda::carry_state(tensors, 2, resets.as<std::int64_t>(), {});
    const auto graph = cuda::end_capture({});
    graph->launch({});
    EXPECT_EQ(to.host().values(), (std::vector<double>{1, 2}));
    Buffer broken(DType::f16, {3, std::nan("")});
    cuda::copy_to_device(from.as<std::uint8_t>(), broken.as<std::uint8_t>(), broken.bytes().size(),
                         {});
    graph->launch({});
    EXPECT_EQ(to.host().values(), (std::vector<double>{3, 0}));
    EXPECT_EQ(resets.host().get(0), 1);
}

}  // namespace
}  // namespace kernels::test
