#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spirals.h"
#include "support/slurm_stand_in.h"

// `halftone queue` with programs that stand in for Slurm's; tests/cluster has the real ones.
namespace app {
namespace {

using testing::HasSubstr;

struct QueueCommandTest : testing::Test {
    /// Output of `halftone queue ...`; its exit code has to be this one.
    std::string run(const std::vector<std::string>& words, int exit_code = 0) const {
        std::vector<std::string> args = {"queue"};
        args.insert(args.end(), words.begin(), words.end());
        return run_command(args, exit_code);
    }
    std::string run_command(const std::vector<std::string>& args, int exit_code) const {
        Program program(args, {.data_home = data_home.path().string(), .before_start = {}});
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << program.errors();
        return program.output_text() + program.errors();
    }

    test_support::SlurmStandIn slurm;
    test_support::TempFolder data_home;
};

TEST_F(QueueCommandTest, AddsSubmitsListsAndCancelsAJob) {
    EXPECT_THAT(run({}), HasSubstr("The queue is empty."));
    EXPECT_THAT(run({"add", "--set", "seed=3", "--where", "slurm"}), HasSubstr("Run 1"));
    slurm.answer("sbatch", "41\n");
    slurm.answer("squeue", "41|PENDING|Resources\n");
    EXPECT_THAT(run({"start"}), HasSubstr("submitted, job 41"));
    EXPECT_THAT(run({}), HasSubstr("The job waits in Slurm: Resources"));
    EXPECT_THAT(run({"--json"}), HasSubstr(R"("state":"submitted")"));
    EXPECT_THAT(run({"remove", "1"}, 2), HasSubstr("Cancel it first."));
    slurm.answer("squeue", "41|CANCELLED|None\n");
    run({"cancel", "1"});
    EXPECT_THAT(slurm.calls(), HasSubstr("scancel [41]\n"));
    EXPECT_THAT(run({}), HasSubstr("The job was cancelled."));
    run({"remove", "1"});
    EXPECT_THAT(run({}), HasSubstr("The queue is empty."));
}

TEST_F(QueueCommandTest, TrainsWhatWaitsForThisMachine) {
    run(spirals("add", {"--set", "max_steps=3"}));
    run({"start"});
    EXPECT_THAT(run({"--json"}), HasSubstr(R"("state":"done","run":"1")"));
}

TEST_F(QueueCommandTest, ASweepThatSlurmRefusesSaysWhy) {
    slurm.answer("sbatch", "", 1, "sbatch: error: Invalid account\n");
    const std::string said =
        run_command(spirals("sweep", {"--grid", "optimizer.lr=0.1,0.03", "--where", "slurm"}), 2);
    EXPECT_THAT(said, HasSubstr("0 jobs of 2 runs submitted"));
    EXPECT_THAT(said, HasSubstr("Slurm did not take the job: Invalid account"));
}

TEST_F(QueueCommandTest, RefusesUnknownWordsRunsAndPlaces) {
    EXPECT_THAT(run({"begin"}, 2), HasSubstr("use add, start, cancel"));
    EXPECT_THAT(run({"cancel", "7"}, 2), HasSubstr("no such run in the queue"));
    EXPECT_THAT(run({"add", "--where", "moon"}, 2), HasSubstr("use here or slurm"));
}

TEST_F(QueueCommandTest, ShowsTheScriptOfTheJobs) {
    EXPECT_THAT(run({"script"}), HasSubstr("{{program}} {{arguments}} &"));
}

}  // namespace
}  // namespace app
