// Jobs of the queue with programs that stand in for Slurm's; tests/cluster has the real ones.
#include "engine/runs/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "done_of.h"
#include "engine/base/error.h"
#include "engine/runs/queue_listing.h"
#include "runs/cluster/slurm.h"
#include "support/patience.h"
#include "support/slurm_stand_in.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct ClusterTest : testing::Test {
    ClusterTest() { write_cluster_settings({root / "jobs", default_job_script()}); }

    std::int64_t add(std::int64_t seed = 1, const std::string& batch = "") {
        return queue.add({{config_with_seed(seed), "a run", batch, QueuePlace::slurm}}).front();
    }
    /// The only run of the queue, in which a job waits.
    QueuedRun submitted() {
        add();
        slurm.answer("sbatch", "41\n");
        submit_jobs(store);
        return only();
    }
    QueuedRun only() const { return queue.list().at(0); }
    /// The job on its node, which has a history of its own, begins the run.
    std::string begin(const QueuedRun& run) {
        const auto made =
            elsewhere.create(run.entry.config, run.job.folder / run.job.folder.filename());
        RunStarted started{};
        started.run = made.run;
        started.config = run.entry.config;
        elsewhere.append(started);
        return made.run;
    }
    void end(const std::string& run, DoneReason reason) {
        RunDone done = done_of(run);
        done.reason = reason;
        elsewhere.append(done);
    }

    test_support::SlurmStandIn slurm;
    test_support::TempFolder root;
    RunStore store{root / "here"}, elsewhere{root / "there"};
    RunQueue queue{root / "here"};
};

TEST_F(ClusterTest, SubmitsEachRunThatWaitsForSlurmAndNoOther) {
    queue.add({{config_with_seed(1), "here", ""}});
    add(2);
    slurm.answer("sbatch", "41\n");
    const auto changes = submit_jobs(store);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].state, QueueState::submitted);
    const auto runs = queue.list();
    EXPECT_EQ(runs[0].state, QueueState::waiting);
    EXPECT_EQ(runs[1].state, QueueState::submitted);
    EXPECT_EQ(runs[1].job.id, "41");
    const fs::path folder = root / "jobs" / "queue-2";
    EXPECT_EQ(runs[1].job.folder, folder);
    EXPECT_EQ(slurm.calls(),
              "sbatch [--parsable] [--job-name=halftone-2] [--chdir=" + folder.string() +
                  "] [--output=slurm.out] [--error=slurm.out] [--open-mode=append] [" +
                  (folder / "job.sh").string() + "]\n");
    EXPECT_THAT(submit_jobs(store), IsEmpty());
}

TEST_F(ClusterTest, TheJobTrainsTheSettingsOfTheRunAsPartOfItsSweep) {
    add(5, "sweep-x in /elsewhere");
    slurm.answer("sbatch", "41\n");
    submit_jobs(store);
    const fs::path folder = only().job.folder;
    std::ifstream file(folder / "settings.json"), script_file(folder / "job.sh");
    const std::string settings(std::istreambuf_iterator<char>(file), {});
    const std::string script(std::istreambuf_iterator<char>(script_file), {});
    EXPECT_EQ(parse_run_config(settings).config, config_with_seed(5));
    EXPECT_THAT(script, HasSubstr(" train " + (folder / "settings.json").string() + " --out " +
                                  (folder / folder.filename()).string() + " --group sweep-x &\n"));
    EXPECT_THAT(script, Not(HasSubstr("{{")));
}

TEST_F(ClusterTest, NoJobIsSubmittedForAProgramThatIsNoLongerThere) {
    add();
    ::setenv("APPIMAGE", (root / "Halftone.AppImage").c_str(), 1);
    try {
        submit_jobs(store);
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_THAT(error.what(), HasSubstr("Halftone.AppImage: the program is no longer there"));
    }
    EXPECT_EQ(only().state, QueueState::waiting);
    EXPECT_EQ(slurm.calls(), "");
    EXPECT_FALSE(fs::exists(root / "jobs"));
}

TEST_F(ClusterTest, OneBatchAloneIsSubmitted) {
    add(1, "sweep-a");
    add(2, "sweep-b");
    slurm.answer("sbatch", "41\n");
    EXPECT_EQ(submit_jobs(store, "sweep-b").size(), 1u);
    EXPECT_EQ(queue.list("sweep-a")[0].state, QueueState::waiting);
}

TEST_F(ClusterTest, AJobThatSlurmDoesNotTakeFailsTheRunWithSlurmsWords) {
    add();
    slurm.answer("sbatch", "", 1,
                 "sbatch: error: invalid partition specified: gpu\nsbatch: error: Batch job "
                 "submission failed: Invalid partition name specified\n");
    EXPECT_EQ(submit_jobs(store).at(0).state, QueueState::failed);
    EXPECT_EQ(job_sentence(only()).str(),
              "Slurm did not take the job: invalid partition specified: gpu; Batch job submission "
              "failed: Invalid partition name specified");
    queue.reset(only().id);
    EXPECT_EQ(only().state, QueueState::waiting);
    EXPECT_EQ(only().job, ClusterJob{});
}

TEST_F(ClusterTest, AJobThatSlurmTookFromAnSbatchThatHangsIsFound) {
    slurm.hang("sbatch");
    slurm.answer("squeue", "40|/jobs/another\n41|/jobs/a|b\n");
    using namespace std::chrono_literals;
    EXPECT_EQ(slurm::submit("/jobs/a|b/job.sh", "halftone-2", "/jobs/a|b", {}, 1s).job, "41");
    EXPECT_THAT(slurm.calls(),
                HasSubstr("squeue [--noheader] [--name=halftone-2] [--format=%i|%Z]\n"));
    const auto none = slurm::submit("/jobs/c/job.sh", "halftone-2", "/jobs/c", {}, 1s);
    EXPECT_EQ(none.job, "");
    EXPECT_EQ(none.failure.kind, slurm::Failure::Kind::late);
    EXPECT_EQ(none.failure.program, "sbatch");
}

TEST_F(ClusterTest, AnSbatchThatCannotBeStartedIsNamed) {
    add();
    slurm.damage("sbatch");
    EXPECT_EQ(submit_jobs(store).at(0).state, QueueState::failed);
    EXPECT_EQ(job_sentence(only()).str(), "sbatch cannot be run.");
}

TEST_F(ClusterTest, TheEndOfTheProgramEndsWhatIsAskedOfSlurm) {
    add();
    add(2);
    slurm.hang("sbatch");
    std::stop_source stop, closing;
    std::thread submitting([&] { submit_jobs(store, {}, stop.get_token(), closing.get_token()); });
    EXPECT_TRUE(test::comes_true([&] { return slurm.calls().find("sbatch") != std::string::npos; }));
    stop.request_stop();
    closing.request_stop();
    submitting.join();
    const auto runs = queue.list();
    EXPECT_EQ(runs.at(0).state, QueueState::failed);
    EXPECT_EQ(job_sentence(runs.at(0)).str(),
              "The program was closed before sbatch had answered. Slurm may have taken the job all "
              "the same.");
    EXPECT_EQ(runs.at(1).state, QueueState::waiting);
    EXPECT_THAT(slurm.calls(), Not(HasSubstr("squeue")));
}

TEST_F(ClusterTest, AFollowThatIsEndedChangesNothing) {
    const QueuedRun before = submitted();
    slurm.hang("squeue");
    std::stop_source closing;
    closing.request_stop();
    EXPECT_THAT(follow_jobs(store, closing.get_token()), IsEmpty());
    EXPECT_EQ(only().job, before.job);
    EXPECT_THROW(cancel_job(store, only().id, closing.get_token()), Error);
    EXPECT_EQ(only().job, before.job);
}

TEST_F(ClusterTest, AMachineWithoutSlurmSaysSoAndTheRunWaits) {
    add();
    slurm.remove("sbatch");
    try {
        submit_jobs(store);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_THAT(error.what(), HasSubstr("no sbatch"));
    }
    EXPECT_EQ(only().state, QueueState::waiting);
}

TEST_F(ClusterTest, SlurmIsAskedWhileTheRunHasNoFolder) {
    const QueuedRun run = submitted();
    slurm.answer("squeue", "41|PENDING|Resources\n");
    EXPECT_EQ(follow_jobs(store).size(), 1u);
    EXPECT_EQ(job_sentence(only()).str(), "The job waits in Slurm: Resources");
    EXPECT_THAT(slurm.calls(), HasSubstr("squeue [--noheader] [--states=all] [--format=%i|%T|%r] "
                                         "[--jobs=41]\n"));
    EXPECT_THAT(follow_jobs(store), IsEmpty()) << "nothing has changed";
    slurm.answer("squeue", "41|RUNNING|None\n");
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::running);
    EXPECT_TRUE(job_sentence(only()).empty());

    begin(run);
    const std::string before = slurm.calls();
    follow_jobs(store);
    EXPECT_EQ(slurm.calls(), before) << "the folder says it";
    EXPECT_EQ(only().state, QueueState::running);
    const auto found = store.find(only().run);
    ASSERT_TRUE(found) << "it is in the history";
    EXPECT_TRUE(fs::equivalent(found->folder, run.job.folder / run.job.folder.filename()));
}

TEST_F(ClusterTest, AnEndIsFoundInTheFolder) {
    const QueuedRun run = submitted();
    end(begin(run), DoneReason::epochs);
    const auto changes = follow_jobs(store);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].state, QueueState::done);
    EXPECT_EQ(only().state, QueueState::done);
    EXPECT_EQ(store.find(changes[0].run)->state, "done");
    EXPECT_THAT(slurm.calls(), Not(HasSubstr("squeue")));
    EXPECT_THAT(follow_jobs(store), IsEmpty());
}

TEST_F(ClusterTest, ARunThatFailedOnItsNodeHasFailed) {
    const QueuedRun run = submitted();
    end(begin(run), DoneReason::failed);
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::failed);
}

TEST_F(ClusterTest, AJobThatEndsBeforeItsRunBeginsSaysWhatItPrinted) {
    const QueuedRun run = submitted();
    std::ofstream(run.job.folder / "slurm.out")
        << "halftone: an earlier job\n"
        << std::string(100'000, '.') << "\nhalftone: data.csv: no such file\nGive the path.\n";
    slurm.answer("squeue", "", 1, "slurm_load_jobs error: Invalid job id specified\n");
    slurm.answer("sacct", "41|FAILED\n");
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::failed);
    EXPECT_EQ(job_sentence(only()).str(),
              "The job ended before its run began (FAILED: halftone: data.csv: no such file)");
}

TEST_F(ClusterTest, AJobThatNobodyKnowsAnyMoreHasEnded) {
    submitted();
    slurm.answer("squeue", "", 1, "slurm_load_jobs error: Invalid job id specified\n");
    slurm.answer("sacct", "", 1, "Slurm accounting storage is disabled\n");
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::failed);
    EXPECT_EQ(only().job.note, JobNote::no_run);
}

TEST_F(ClusterTest, ASlurmThatDoesNotAnswerChangesNoState) {
    submitted();
    slurm.answer("squeue", "", 1, "slurm_load_jobs error: Unable to contact slurm controller\n");
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::submitted);
    EXPECT_EQ(job_sentence(only()).str(),
              "Slurm does not answer: slurm_load_jobs error: Unable to contact slurm controller");
}

TEST_F(ClusterTest, ARunThatTheTimeLimitStoppedGoesOnInAnotherJob) {
    const QueuedRun run = submitted();
    const std::string there = begin(run);
    follow_jobs(store);
    end(there, DoneReason::stopped);
    slurm.answer("squeue", "41|TIMEOUT|TimeLimit\n");
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::stopped);
    EXPECT_THAT(job_sentence(only()).str(), HasSubstr("before its run did (TIMEOUT)"));

    queue.reset(only().id);
    slurm.answer("sbatch", "42\n");
    EXPECT_EQ(submit_jobs(store).size(), 1u);
    EXPECT_EQ(only().job.id, "42");
    EXPECT_EQ(only().state, QueueState::submitted);
    std::ifstream file(only().job.folder / "job.sh");
    const std::string script(std::istreambuf_iterator<char>(file), {});
    EXPECT_THAT(
        script,
        HasSubstr(" resume " + fs::canonical(run.job.folder / run.job.folder.filename()).string()));

    slurm.answer("squeue", "42|PENDING|Priority\n");
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::submitted) << "that the run is stopped says nothing yet";
    elsewhere.reopen(run.job.folder / run.job.folder.filename(), 20);
    end(there, DoneReason::epochs);
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::done);
}

TEST_F(ClusterTest, AJobWithoutANumberHasFailed) {
    add();
    slurm.answer("sbatch", "Submitted\n");
    EXPECT_EQ(submit_jobs(store).at(0).state, QueueState::failed);
    EXPECT_EQ(job_sentence(only()).str(), "sbatch printed no job number.");
}

TEST_F(ClusterTest, SubmitsNothingMoreOnceItIsStopped) {
    add();
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THAT(submit_jobs(store, {}, stop.get_token()), IsEmpty());
    EXPECT_EQ(slurm.calls(), "");
    EXPECT_EQ(only().state, QueueState::waiting);
}

TEST_F(ClusterTest, CancelsAJobAndSaysWhyItCannot) {
    submitted();
    slurm.answer("scancel", "", 1, "scancel: error: Kill job error on job id 41: Access denied\n");
    try {
        cancel_job(store, only().id);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "Slurm did not cancel job 41: Kill job error on job id 41: Access denied");
    }
    slurm.answer("scancel", "");
    cancel_job(store, only().id);
    EXPECT_THAT(slurm.calls(), HasSubstr("scancel [41]\n"));
    slurm.answer("squeue", "41|CANCELLED|None\n");
    follow_jobs(store);
    EXPECT_EQ(only().state, QueueState::stopped);
    EXPECT_EQ(job_sentence(only()).str(), "The job was cancelled.");
    EXPECT_THROW(cancel_job(store, only().id), Error);
}

TEST_F(ClusterTest, AJobOfAnotherClusterIsAskedForThere) {
    add();
    slurm.answer("sbatch", "41;west\n");
    submit_jobs(store);
    slurm.answer("squeue", "CLUSTER: west\n41|PENDING|Priority\n");
    follow_jobs(store);
    EXPECT_EQ(only().job.words, "Priority");
    cancel_job(store, only().id);
    EXPECT_THAT(slurm.calls(), HasSubstr("[--jobs=41] [--clusters=west]\n"));
    EXPECT_THAT(slurm.calls(), HasSubstr("scancel [--clusters=west] [41]\n"));
}

TEST_F(ClusterTest, AnotherProgramFindsTheJobAgain) {
    submitted();
    RunStore next(root / "here");
    slurm.answer("squeue", "41|PENDING|Priority\n");
    EXPECT_EQ(follow_jobs(next).size(), 1u);
    EXPECT_EQ(RunQueue(root / "here").list().at(0).job.words, "Priority");
}

}  // namespace
}  // namespace engine
