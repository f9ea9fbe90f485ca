#include "parallel/rank_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "simt/nccl.h"
#include "support/ranks.h"

namespace engine {
namespace {

using test::on_ranks;
using testing::HasSubstr;

/// NCCL is not installed while it lives.
class WithoutNccl {
public:
    WithoutNccl() { kernels::simt::set_nccl_installed(false); }
    ~WithoutNccl() { kernels::simt::set_nccl_installed(true); }
    WithoutNccl(const WithoutNccl&) = delete;
    WithoutNccl& operator=(const WithoutNccl&) = delete;
};

/// The error with which the ranks together end.
std::string error_of(const std::string& setting, int ranks) {
    try {
        on_ranks(ranks, [&](const auto& line) { device_of_rank(setting, line.get()); });
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device);
        return error.what();
    }
    return {};
}

TEST(RankDevice, RanksOfAMachineTakeItsGpusInOrder) {
    for (const char* setting : {"cuda", "auto"}) {
        on_ranks(2, [&](const auto& line) {
            EXPECT_EQ(device_of_rank(setting, line.get()),
                      (Device{Device::Kind::cuda, line->rank()}));
        });
    }
}

TEST(RankDevice, OneProcessAndTheCpuAreAsWithoutRanks) {
    EXPECT_EQ(device_of_rank("cuda:1", nullptr), (Device{Device::Kind::cuda, 1}));
    on_ranks(2, [](const auto& line) { EXPECT_EQ(device_of_rank("cpu", line.get()), Device{}); });
}

TEST(RankDevice, MoreRanksThanGpusAreRefused) {
    EXPECT_THAT(error_of("cuda", 3), HasSubstr("Each worker needs a GPU of its own"));
    on_ranks(3, [](const auto& line) { EXPECT_EQ(device_of_rank("auto", line.get()), Device{}); });
}

TEST(RankDevice, AGpuByNumberIsRefused) {
    EXPECT_THAT(error_of("cuda:1", 2), HasSubstr("take the GPUs in order"));
}

TEST(RankDevice, WithoutNcclWorkersOnGpusAreRefused) {
    const WithoutNccl absence;
    EXPECT_EQ(error_of("cuda", 2),
              "Workers exchange gradients between GPUs through NCCL, which is missing: simulated "
              "absence.");
    on_ranks(2, [](const auto& line) { EXPECT_EQ(device_of_rank("auto", line.get()), Device{}); });
}

}  // namespace
}  // namespace engine
