#include "engine/parallel/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "engine/base/error.h"

namespace engine {
namespace {

/// Launcher variables of the test alone, for the object's life.
class Variables {
public:
    explicit Variables(const std::map<std::string, std::string>& set) {
        for (const char* name :
             {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMI_FD",
              "PMIX_RANK", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
            if (const char* before = std::getenv(name)) before_[name] = before;
            names_.emplace_back(name);
            unsetenv(name);
        }
        for (const auto& [name, value] : set) setenv(name.c_str(), value.c_str(), 1);
    }
    ~Variables() {
        for (const auto& name : names_) unsetenv(name.c_str());
        for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
    }
    Variables(const Variables&) = delete;
    Variables& operator=(const Variables&) = delete;

private:
    std::vector<std::string> names_;
    std::map<std::string, std::string> before_;
};

std::pair<int, int> rank_with(const std::map<std::string, std::string>& set) {
    const Variables variables(set);
    const LaunchedRank found = launched_rank();
    return {found.rank, found.ranks};
}

using Place = std::pair<int, int>;

TEST(LaunchedRank, IsThatOfOpenMpiMpichAndSlurm) {
    EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
              Place(2, 4));
    EXPECT_EQ(rank_with({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}), Place(1, 2));
    EXPECT_EQ(rank_with({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"PMIX_RANK", "5"}}),
              Place(5, 8));
}

TEST(LaunchedRank, WithoutALauncherOrWithOneRankThereIsNone) {
    EXPECT_EQ(rank_with({}), Place(0, 1));
    EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}}),
              Place(0, 1));
}

TEST(LaunchedRank, ABatchScriptOfSlurmIsNotARank) {
    EXPECT_EQ(rank_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}), Place(0, 1));
}

TEST(LaunchedRank, AnMpirunThatUsesSrunDecides) {
    EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_RANK", "0"},
                         {"OMPI_COMM_WORLD_SIZE", "1"},
                         {"PMIX_RANK", "0"},
                         {"SLURM_PROCID", "1"},
                         {"SLURM_STEP_NUM_TASKS", "8"}}),
              Place(0, 1));
}

TEST(LaunchedRank, WhatIsNoNumberIsNoRank) {
    EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
              Place(0, 1));
    EXPECT_EQ(rank_with({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
              Place(0, 1));
}

// Otherwise each of them would train the whole run, and all write the same folder.
TEST(LaunchedCommunicator, IsRefusedWhereSrunGivesNoWayToMeet) {
    const Variables variables({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}});
    EXPECT_EQ(launched_rank().ranks, 8);
    EXPECT_FALSE(speaks_for_ranks()) << "that is left to the first of them";
    try {
        launched_communicator();
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device);
        EXPECT_THAT(error.what(), testing::HasSubstr("8 processes that cannot find each other"));
        EXPECT_THAT(error.hint().str(), testing::HasSubstr("--mpi=pmix"));
    }
}

TEST(LaunchedCommunicator, IsNullInOneProcess) {
    const Variables variables({});
    EXPECT_EQ(launched_communicator(), nullptr);
    EXPECT_TRUE(speaks_for_ranks());
    EXPECT_EQ(leave_launch(3), 3);
}

}  // namespace
}  // namespace engine
