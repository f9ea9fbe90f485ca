#include "simt/handover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda_device.h"
#include "simt/block.h"
#include "simt/language.h"
#include "simt/watched.h"

// Blocks that take turns, and what one of them may read of another.
namespace kernels::simt {
namespace {

constexpr int blocks = 7, threads = 64;

struct Outcome {
    std::vector<float> sums;
    std::string finding;
};

/// Order of the threads of a block, and of the blocks (0: that of their numbers).
struct Orders {
    ThreadOrder threads = ThreadOrder::forward;
    unsigned blocks = 0;
};

Outcome run(HandingOver how, const Orders& orders) {
    configure({.order = orders.threads});
    interleave_blocks(orders.blocks);
    auto* memory = static_cast<float*>(cuda::allocate((blocks + 2) * threads * sizeof(float)));
    float *out = memory, *parts = memory + threads;
    auto* finished = reinterpret_cast<unsigned*>(parts + blocks * threads);
    cuda::set_zero(finished, sizeof(unsigned), {});
    enqueue_kernel("sum", {blocks, 1, threads}, {},
                   [=] { sum_in_the_last_block(out, parts, finished, how); });
    Outcome outcome{std::vector<float>(threads), {}};
    try {
        cuda::synchronize({});
    } catch (const std::logic_error& error) {
        outcome.finding = error.what();
        repair();
    }
    cuda::copy_to_host(outcome.sums.data(), out, threads * sizeof(float), {});
    cuda::release(memory);
    configure({});
    interleave_blocks(0);
    return outcome;
}

float expected(int thread) {
    float sum = 0;
    for (int block = 0; block < blocks; ++block)
        sum += static_cast<float>(block * threads + thread);
    return sum;
}

std::vector<Orders> all_orders() {
    std::vector<Orders> all;
    for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::backward})
        for (const unsigned seed : {0u, 1u, 2u, 3u, 4u, 5u}) all.push_back({order, seed});
    return all;
}

TEST(Handover, GivesTheLastBlockWhatAllHaveWritten) {
    for (const Orders& orders : all_orders()) {
        SCOPED_TRACE(orders.blocks);
        const Outcome outcome = run(HandingOver::whole, orders);
        EXPECT_EQ(outcome.finding, "");
        for (int i = 0; i < threads; ++i)
            EXPECT_EQ(outcome.sums[static_cast<std::size_t>(i)], expected(i));
    }
}

TEST(Handover, NeedsAFence) {
    for (const Orders& orders : all_orders())
        EXPECT_THAT(run(HandingOver::unfenced, orders).finding,
                    testing::HasSubstr("with no barrier between"));
}

TEST(Handover, ComesAfterTheAccesses) {
    for (const Orders& orders : all_orders())
        EXPECT_THAT(run(HandingOver::too_early, orders).finding,
                    testing::HasSubstr("with no barrier between"));
}

TEST(Handover, IsNotAMatterOfTheBlocksNumbers) {
    for (const Orders& orders : all_orders())
        EXPECT_THAT(run(HandingOver::by_number, orders).finding,
                    testing::HasSubstr("with no barrier between"));
}

// In the order of their numbers the highest block does come last, and its sums are right: only
// blocks that take turns show that it need not.
TEST(InterleavedBlocks, RunInAnotherOrderThanThatOfTheirNumbers) {
    EXPECT_EQ(run(HandingOver::by_number, {}).sums[3], expected(3));
    bool wrong = false;
    for (const Orders& orders : all_orders())
        wrong = wrong || run(HandingOver::by_number, orders).sums[3] != expected(3);
    EXPECT_TRUE(wrong);
}

}  // namespace
}  // namespace kernels::simt
