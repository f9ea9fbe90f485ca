#include "cuda/recurrent_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernels::cuda {
namespace {

using rnn::Algorithm;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

DeviceInfo card(int major, int minor, int multiprocessors) {
    DeviceInfo info;
    info.major = major;
    info.minor = minor;
    info.multiprocessors = multiprocessors;
    return info;
}
const DeviceInfo hopper = card(9, 0, 132);

RecurrentNetwork network(RecurrentCell cell, std::int64_t hidden, std::int64_t batch = 64) {
    return {.cell = cell,
            .dtype = DType::f16,
            .steps = 35,
            .batch = batch,
            .input = 256,
            .hidden = hidden,
            .layers = 1,
            .training = true};
}

// The figures are those of PyTorch's rule.
TEST(RecurrentChoice, TakesPersistentKernelsWhereTheirNetworksAndCardsSuit) {
    const auto of = [](const RecurrentNetwork& n, const DeviceInfo& on = hopper) {
        return persistent_algorithms(n, on);
    };
    const RecurrentNetwork lstm = network(RecurrentCell::lstm, 512);
    EXPECT_THAT(of(lstm), ElementsAre(Algorithm::persist_static));
    EXPECT_THAT(of(lstm, card(8, 0, 108)), ElementsAre(Algorithm::persist_static));
    EXPECT_THAT(of(lstm, card(8, 6, 128)), IsEmpty()) << "it fails there";
    EXPECT_THAT(of(lstm, card(8, 9, 58)), IsEmpty()) << "its blocks find no room";
    EXPECT_THAT(of(lstm, card(7, 5, 108)), IsEmpty());
    const auto changed = [&](const auto& change) {
        RecurrentNetwork n = lstm;
        change(n);
        return of(n);
    };
    EXPECT_THAT(changed([](auto& n) { n.dtype = DType::bf16; }), IsEmpty());
    EXPECT_THAT(changed([](auto& n) { n.hidden = 650; }), IsEmpty());
    EXPECT_THAT(changed([](auto& n) { n.hidden = 1152; }), IsEmpty());
    EXPECT_THAT(changed([](auto& n) { n.input = 200; }), IsEmpty());
    EXPECT_THAT(changed([](auto& n) { n.layers = 2; }), IsEmpty());
    EXPECT_THAT(changed([](auto& n) { n.bidirectional = true; }), IsEmpty());
    EXPECT_THAT(changed([](auto& n) { n.batch = 20; }), IsEmpty());
    EXPECT_THAT(changed([](auto& n) { n.batch = 136; }), IsEmpty());
    EXPECT_THAT(of(network(RecurrentCell::gru, 512)), IsEmpty());
    EXPECT_THAT(of(network(RecurrentCell::rnn_tanh, 896, 96)), IsEmpty());
    EXPECT_THAT(of(network(RecurrentCell::rnn_tanh, 896, 88)),
                ElementsAre(Algorithm::persist_static));
}

TEST(RecurrentChoice, TakesTheKernelsOfSmallHiddenStatesUpToTheirLimits) {
    const auto takes = [](RecurrentCell cell, std::int64_t hidden, bool training) {
        RecurrentNetwork n = network(cell, hidden, /*batch=*/20);
        n.training = training;
        n.layers = 2;
        return persistent_algorithms(n, hopper) == std::vector{Algorithm::persist_static_small_h};
    };
    for (const auto cell : {RecurrentCell::lstm, RecurrentCell::gru}) {
        EXPECT_TRUE(takes(cell, 128, true));
        EXPECT_FALSE(takes(cell, 129, true));
        EXPECT_TRUE(takes(cell, 192, false));
        EXPECT_FALSE(takes(cell, 193, false));
    }
    for (const auto cell : {RecurrentCell::rnn_relu, RecurrentCell::rnn_tanh}) {
        EXPECT_TRUE(takes(cell, 256, true));
        EXPECT_FALSE(takes(cell, 257, true));
        EXPECT_TRUE(takes(cell, 384, false));
        EXPECT_FALSE(takes(cell, 385, false));
    }
}

}  // namespace
}  // namespace kernels::cuda
