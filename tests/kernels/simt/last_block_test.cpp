#include <gtest/gtest.h>

#include <vector>

#include "kernels/batch_norm.h"
#include "kernels/batch_norm_problem.h"
#include "kernels/cuda_graph.h"
#include "kernels/layer_norm.h"
#include "simt/block.h"

// Kernels whose last block joins what all have left: the bits must not depend on which block that
// is. On the simulated device the blocks take turns in drawn orders.
namespace kernels::test::last_block {
namespace {

using batch_norm::no_array;
using batch_norm::TwinCase;
using Results = std::vector<std::vector<unsigned char>>;

std::vector<unsigned char> bytes_of(const DeviceBuffer& buffer) {
    const Buffer host = buffer.host();
    return {host.bytes().begin(), host.bytes().end()};
}

/// All results of both passes of a batch norm. Odd rows, so that the chunks differ.
Results batch_norms(std::int64_t channels, DType dtype) {
    const TwinCase c{.rows = 999, .channels = channels, .dtype = dtype};
    const batch_norm::Operands o(c);
    const DeviceBuffer y(dtype, o.n), mean(DType::f32, channels), invstd(DType::f32, channels);
    cuda::batch_norm_forward_train(y, mean, invstd, o.device_running_mean, o.device_running_var,
                                   o.device_x, o.device_weight, o.device_bias, no_array, true,
                                   o.shape, {});
    const DeviceBuffer dx(dtype, o.n), dresidual(dtype, o.n), dweight(DType::f32, channels),
        dbias(DType::f32, channels), dy(random_buffer(dtype, o.n, 9));
    cuda::batch_norm_backward(dx, dresidual, dweight, dbias, nullptr, dy, no_array, o.device_x, y,
                              o.device_weight, o.device_bias, mean, invstd, true, true, o.shape,
                              {});
    Results results;
    for (const DeviceBuffer* each : {&y, &mean, &invstd, &o.device_running_mean,
                                     &o.device_running_var, &dx, &dresidual, &dweight, &dbias})
        results.push_back(bytes_of(*each));
    return results;
}

Results layer_norm_weights() {
    constexpr std::int64_t rows = 200, cols = 40;
    const LayerNormShape shape{.rows = rows, .cols = cols};
    const DeviceBuffer x(random_buffer(DType::f16, rows * cols, 1)),
        dy(random_buffer(DType::f16, rows * cols, 2)), weight(random_buffer(DType::f32, cols, 3));
    const DeviceBuffer y(DType::f16, rows * cols), mean(DType::f32, rows), rstd(DType::f32, rows);
    cuda::layer_norm_forward(y, mean, rstd, x, weight, no_array, shape, {});
    const DeviceBuffer dx(DType::f16, rows * cols), dweight(DType::f32, cols),
        dbias(DType::f32, cols);
    cuda::layer_norm_backward(dx, dweight, dbias, dy, x, weight, mean, rstd, shape, {});
    return {bytes_of(dx), bytes_of(dweight), bytes_of(dbias)};
}

Results welford() {
    constexpr std::int64_t rows = 500, channels = 33;
    const DeviceBuffer x(random_buffer(DType::f32, rows * channels, 1)),
        dy(random_buffer(DType::f32, rows * channels, 2)), mean(DType::f32, channels),
        var(DType::f32, channels), sum(DType::f32, channels), centred(DType::f32, channels);
    cuda::welford_local(mean, var, x, rows, channels, {});
    cuda::welford_backward_sums(sum, centred, dy, x, mean, rows, channels, {});
    return {bytes_of(mean), bytes_of(var), bytes_of(sum), bytes_of(centred)};
}

class LastBlock : public testing::Test {
protected:
    void SetUp() override { configure(0, simt::ThreadOrder::forward); }
    void TearDown() override {
        simt::configure(simt::DeviceSettings{});
        simt::interleave_blocks(0);
    }

    static void configure(unsigned seed, simt::ThreadOrder order) {
        simt::configure(simt::DeviceSettings{.multiprocessors = 8, .order = order});
        simt::interleave_blocks(seed);
    }

    template <typename F>
    static void expect_same_bits(const F& results) {
        const Results expected = results();
        configure(0, simt::ThreadOrder::backward);
        EXPECT_EQ(results(), expected);
#ifndef __SANITIZE_ADDRESS__
        for (const unsigned seed : {1u, 2u}) {
            configure(seed, simt::ThreadOrder::forward);
            EXPECT_EQ(results(), expected) << "blocks in the order of seed " << seed;
        }
#endif
        configure(0, simt::ThreadOrder::forward);
        EXPECT_EQ(results(), expected) << "the counts are 0 again";
    }
};

TEST_F(LastBlock, OfBatchNormGivesTheSameBitsWhicheverItIs) {
    expect_same_bits([] { return batch_norms(16, DType::f16); });
    expect_same_bits([] { return batch_norms(5, DType::f32); });
}

TEST_F(LastBlock, OfLayerNormGivesTheSameBitsWhicheverItIs) {
    expect_same_bits(layer_norm_weights);
}

TEST_F(LastBlock, OfWelfordSumsGivesTheSameBitsWhicheverItIs) { expect_same_bits(welford); }

// Before the words of a stream are there a recorded kernel gets words of its own: their zeros are
// written by each replay, and not before the first.
TEST_F(LastBlock, CountsInAGraphThatIsRecordedFirst) {
    const Stream stream = cuda::make_stream();
    constexpr std::int64_t rows = 2000, channels = 33;
    const DeviceBuffer x(random_buffer(DType::f32, rows * channels, 1)), mean(DType::f32, channels),
        var(DType::f32, channels), eager(DType::f32, channels);
    cuda::synchronize({});
    cuda::begin_capture(stream);
    cuda::welford_local(mean, var, x, rows, channels, stream);
    const auto graph = cuda::end_capture(stream);
    cuda::welford_local(eager, var, x, rows, channels, stream);  // the graph has not run yet
    for (int i = 0; i < 2; ++i) graph->launch(stream);
    cuda::synchronize(stream);
    EXPECT_EQ(bytes_of(mean), bytes_of(eager));
    cuda::release(stream);
}

}  // namespace
}  // namespace kernels::test::last_block
