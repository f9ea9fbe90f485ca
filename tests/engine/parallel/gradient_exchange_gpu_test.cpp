#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "autograd/backward.h"
#include "averaged_gradients.h"
#include "engine/base/error.h"
#include "kernels/device_error.h"
#include "ops/index/sparse.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "parallel/device_ranks.h"
#include "parallel/gradient_exchange.h"
#include "simt/nccl.h"
#include "support/ranks.h"

// The exchange of gradients between two GPUs (optimizers.md#bucketed-data-parallel, 4.6).
namespace engine {
namespace {

using test::leaf;
using test::on_two_gpus;
using testing::Each;

TEST(GradientExchangeOnGpus, X14_AveragesTheGradientsOfTwoRanksWhateverTheOptions) {
    for (const ExchangeOptions& options : test::exchange_forms())
        on_two_gpus([&](const auto& host, const Device& device) {
            test::expect_averages(*make_gpu_communicator(host, device), device, options, 5);
        });
}

TEST(GradientExchangeOnGpus, SumsOfF16OverflowUnlessTheyTravelAsF32OrAreDividedBefore) {
    const auto exchanged = [](const ExchangeOptions& options) {
        double out = 0;
        on_two_gpus([&](const auto& host, const Device& device) {
            const auto ranks = make_gpu_communicator(host, device);
            const Tensor weight = leaf(Tensor::full({3}, 1, DType::f16, device));
            GradientExchange exchange(*ranks, {weight}, options);
            exchange.begin();
            weight.set_grad(Tensor::full({3}, 40000, DType::f16, device));
            exchange.finish();
            if (device.index == 0) out = weight.grad().values()[0];
        });
        return out;
    };
    EXPECT_EQ(exchanged({}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(exchanged({.in_f32 = true}), 40000);
    EXPECT_EQ(exchanged({.predivide = 2}), 40000);
}

/// Two parameters, of which the second gets its gradient first; one bucket for each.
class TwoBuckets {
public:
    TwoBuckets(Communicator& ranks, const Device& device)
        : first_(leaf(Tensor::full({50}, 1, DType::f32, device))),
          second_(leaf(Tensor::full({70}, 2, DType::f32, device))),
          exchange_(ranks, {first_, second_}, {.message_size = 1}) {}
    void backward_and_exchange() {
        first_.set_grad({});
        second_.set_grad({});
        exchange_.begin();
        backward(add(sum(first_), sum(second_)));
        exchange_.finish();
    }
    const GradientExchange& exchange() const { return exchange_; }
    std::vector<double> gradient() const { return second_.grad().values(); }

private:
    Tensor first_, second_;
    GradientExchange exchange_;
};

TEST(GradientExchangeOnGpus, AfterTheFirstPassNothingWaitsForTheDevice) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        TwoBuckets work(*ranks, device);
        work.backward_and_exchange();
        work.backward_and_exchange();
        host->barrier();
        const auto before = kernels::cuda::call_counts();
        host->barrier();
        work.backward_and_exchange();
        host->barrier();
        EXPECT_EQ(kernels::cuda::call_counts().synchronizations, before.synchronizations);
        host->barrier();
        EXPECT_THAT(work.gradient(), Each(1));
    });
}

TEST(GradientExchangeOnGpus, BucketsAreSentInOneOrderOnAllRanks) {
    kernels::simt::take_nccl_calls();
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        TwoBuckets work(*ranks, device);
        for (int i = 0; i < 3; ++i) work.backward_and_exchange();
        EXPECT_THAT(work.gradient(), Each(1));
    });
    std::vector<std::size_t> sizes[2];
    for (const auto& call : kernels::simt::take_nccl_calls()) {
        EXPECT_EQ(call.name, "ncclAllReduce");
        EXPECT_FALSE(call.on_compute_stream);
        sizes[call.rank].push_back(call.count);
    }
    EXPECT_EQ(sizes[0], sizes[1]);
    ASSERT_EQ(sizes[0].size(), 6U);
    EXPECT_EQ(sizes[0][2] + sizes[0][3], 120U);
    EXPECT_EQ(sizes[0][2], sizes[0][4]);
}

TEST(GradientExchangeOnGpus, ItsTimesAreThoseOfTheDevice) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        TwoBuckets work(*ranks, device);
        for (int i = 0; i < 2; ++i) work.backward_and_exchange();
        const ExchangeTimer timer = work.exchange().timer();
        work.gradient();  // waits
        const ExchangeTimes times = timer();
        EXPECT_GT(times.total_ms, 0);
        EXPECT_LE(times.hidden_ms, times.total_ms);
    });
}

TEST(GradientExchangeOnGpus, SparseGradientsAreGatheredWithUnequalCounts) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const Tensor table = leaf(Tensor::zeros({4, 2}, DType::f32, device));
        GradientExchange exchange(*ranks, {table}, {.average = false});
        exchange.begin();
        const bool first = device.index == 0;
        const Tensor places = first ? Tensor::of({1}, {1, 1}, DType::i64, device)
                                    : Tensor::of({1, 3}, {1, 2}, DType::i64, device);
        const Tensor values = Tensor::full({first ? 1 : 2, 2}, 1, DType::f32, device);
        table.set_grad(sparse_tensor(places, values, {4, 2}));
        exchange.finish();
        EXPECT_THAT(to_dense(table.grad()).values(), testing::ElementsAre(0, 0, 2, 2, 0, 0, 1, 1));
    });
}

TEST(GradientExchangeOnGpus, AConnectionThatBreaksEndsTheStep) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        TwoBuckets work(*ranks, device);
        work.backward_and_exchange();
        host->barrier();
        if (device.index == 0) kernels::simt::break_nccl(true);
        host->barrier();
        EXPECT_THROW(work.backward_and_exchange(), kernels::DeviceError);
        host->barrier();
        if (device.index == 0) kernels::simt::break_nccl(false);
    });
}

}  // namespace
}  // namespace engine
