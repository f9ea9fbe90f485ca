#include "parallel/device_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "engine/base/error.h"
#include "kernels/device_error.h"
#include "kernels/elementwise.h"
#include "parallel/communicator.h"
#include "simt/nccl.h"
#include "support/ranks.h"

namespace engine {
namespace {

using kernels::simt::NcclCall;
using test::on_two_gpus;
using testing::ElementsAre;

std::vector<NcclCall> calls_of(int rank, const std::vector<NcclCall>& all) {
    std::vector<NcclCall> out;
    for (const NcclCall& call : all) {
        if (call.rank == rank) out.push_back(call);
    }
    return out;
}

TEST(DeviceRanks, SumsAreThoseOfAllRanksInEveryType) {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64}) {
        on_two_gpus([&](const auto& host, const Device& device) {
            const auto ranks = make_gpu_communicator(host, device);
            const Tensor own = Tensor::of({1.0 + device.index, 2, 30}, {3}, dtype, device);
            sum_over(*ranks, own.array(), device);
            EXPECT_THAT(own.values(), ElementsAre(3, 4, 60));
        });
    }
}

TEST(DeviceRanks, ABroadcastCopiesTheBytesOfRank0) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const Tensor own = Tensor::full({5}, 7 + device.index, DType::f16, device);
        broadcast_over(*ranks, own.array(), device);
        EXPECT_THAT(own.values(), testing::Each(7));
    });
}

TEST(DeviceRanks, APartMayBeLongerThanOthersOrEmpty) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const Tensor all = Tensor::zeros({3}, DType::f32, device);
        const Tensor part = Tensor::full({3}, 5 + device.index, DType::f32, device);
        const std::int64_t own = device.index == 0 ? 1 : 2;
        gather_over(*ranks, all.array(), {part.data(), DType::f32, own}, std::vector{1L, 2L},
                    device);
        EXPECT_THAT(all.values(), ElementsAre(5, 6, 6));
        gather_over(*ranks, all.array(), {part.data(), DType::f32, 3L * device.index},
                    std::vector{0L, 3L}, device);
        EXPECT_THAT(all.values(), ElementsAre(6, 6, 6));
    });
}

TEST(DeviceRanks, HostMemoryGoesOverTheHostsLine) {
    kernels::simt::take_nccl_calls();
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        std::int64_t number = device.index + 1;
        sum_over(*ranks, {&number, DType::i64, 1}, Device{});
        EXPECT_EQ(number, 3);
    });
    EXPECT_THAT(kernels::simt::take_nccl_calls(), testing::IsEmpty());
}

// A gather is one group of broadcasts, since NCCL's own takes equal parts only.
TEST(DeviceRanks, EveryCallIsOnAStreamOfItsOwn) {
    kernels::simt::take_nccl_calls();
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const Tensor own = Tensor::zeros({4}, DType::f32, device);
        sum_over(*ranks, own.array(), device);
        broadcast_over(*ranks, own.array(), device);
        gather_over(*ranks, own.array(), {own.data(), DType::f32, 2}, std::vector{2L, 2L}, device);
    });
    const auto all = kernels::simt::take_nccl_calls();
    for (const int rank : {0, 1}) {
        const auto calls = calls_of(rank, all);
        ASSERT_EQ(calls.size(), 4U);
        const auto expect = [&](std::size_t i, const char* name, std::size_t count, bool grouped) {
            EXPECT_EQ(calls[i].name, name);
            EXPECT_EQ(calls[i].count, count) << i;
            EXPECT_EQ(calls[i].in_group, grouped) << i;
            EXPECT_FALSE(calls[i].on_compute_stream);
        };
        expect(0, "ncclAllReduce", 4, false);
        expect(1, "ncclBroadcast", 16, false);
        expect(2, "ncclBroadcast", 8, true);
        expect(3, "ncclBroadcast", 8, true);
    }
}

TEST(DeviceRanks, ItsWorkIsInOrderWithTheComputeStreamAndNothingWaits) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const Tensor own = Tensor::empty({100}, DType::f32, device);
        const auto fill = [&](double value) {
            kernels::cuda::fill(own.array(), value, current_stream());
        };
        host->barrier();
        const auto before = kernels::cuda::call_counts();
        fill(1);
        sum_over(*ranks, own.array(), device);
        const Tensor seen = own.copy_to(device).detach();
        sum_over(*ranks, own.array(), device);
        const auto after = kernels::cuda::call_counts();
        host->barrier();
        EXPECT_EQ(after.synchronizations, before.synchronizations);
        EXPECT_THAT(own.values(), testing::Each(4));
    });
}

TEST(DeviceRanks, CallsOfDifferentSizesAreAnErrorThatNamesTheCall) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const Tensor own = Tensor::zeros({3 + device.index}, DType::f32, device);
        std::string found;
        try {
            sum_over(*ranks, own.array(), device);
        } catch (const kernels::DeviceError& error) {
            found = error.what();
        }
        host->barrier();
        // The call of one of them came first, and is in order by itself.
        EXPECT_TRUE(any(*host, found.empty()));
        EXPECT_TRUE(any(*host, !found.empty()));
        if (found.empty())
            EXPECT_THROW(ranks->on_device()->group().check_errors(), kernels::DeviceError);
        else
            EXPECT_THAT(found, testing::StartsWith("ncclAllReduce: "));
        host->barrier();
        ranks->abort("Nobody waits for the call that came first.");
    });
}

TEST(DeviceRanks, AbortEndsTheCallsThatWaitForThisRank) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        const Tensor own = Tensor::zeros({3}, DType::f32, device);
        if (device.index == 0) sum_over(*ranks, own.array(), device);
        EXPECT_NO_THROW(ranks->on_device()->check_intact());
        host->barrier();
        if (device.index == 1) ranks->abort("Rank 1 gives up.");
        if (device.index == 0) {
            own.values();  // waits for the device, and so for the end of the exchange
            EXPECT_THROW(ranks->on_device()->check_intact(), Error);
        }
        EXPECT_THROW(host->barrier(), Error);
        try {
            sum_over(*ranks, own.array(), device);
            ADD_FAILURE() << "summed";
        } catch (const Error& error) {
            EXPECT_EQ(error.message().str(), "Rank 1 gives up.");
        }
    });
}

// The stand-in for NCCL does here as NCCL does.
TEST(DeviceRanks, AnAbortOfNcclEndsTheWaitingOfItsOwnRankAlone) {
    on_two_gpus([&](const auto& host, const Device& device) {
        const auto ranks = make_gpu_communicator(host, device);
        DeviceRanks& gpus = *ranks->on_device();
        const Tensor own = Tensor::zeros({3}, DType::f32, device);
        if (device.index == 0) sum_over(*ranks, own.array(), device);
        const auto end = gpus.mark();
        host->barrier();
        if (device.index == 1) gpus.group().abort();
        host->barrier();
        if (device.index == 0) {
            for (int i = 0; i < 100; ++i) EXPECT_FALSE(end->passed());
            gpus.group().abort();
            end->synchronize();
        }
        host->barrier();
    });
}

TEST(DeviceRanks, TheEndOfAGroupWaitsForItsCalls) {
    std::atomic<bool> has_come = false;
    on_two_gpus([&](const auto& host, const Device& device) {
        kernels::cuda::RankGroupId id;
        if (device.index == 0) id = kernels::cuda::make_rank_group_id();
        host->broadcast({&id, DType::u8, sizeof id});
        const Tensor own = Tensor::full({3}, 1, DType::f32, device);
        auto group = std::make_unique<kernels::cuda::RankGroup>(id, device.index, 2);
        if (device.index == 1) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            has_come = true;
        }
        group->sum(own.array(), current_stream());
        group.reset();
        EXPECT_TRUE(has_come);
        EXPECT_THAT(own.values(), testing::Each(2));
    });
}

TEST(DeviceRanks, RanksNeedDevicesOfTheirOwn) {
    test::on_ranks(2, [](const auto& host) {
        EXPECT_THROW(make_gpu_communicator(host, test::cuda), kernels::DeviceError);
    });
}

}  // namespace
}  // namespace engine
