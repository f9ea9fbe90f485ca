#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "spirals.h"

namespace app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A sweep with its own run history, which can be run several times.
class Sweep {
public:
    explicit Sweep(std::vector<std::string> more) : args_(spirals("sweep", more)) {}

    std::unique_ptr<Program> start(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> args = args_;
        args.insert(args.end(), more.begin(), more.end());
        return std::make_unique<Program>(args, Program::Options{home_.str(), {}});
    }
    std::unique_ptr<Program> run(const std::vector<std::string>& more = {}) const {
        auto program = start(more);
        program->finish();
        return program;
    }

private:
    test_support::TempFolder home_;
    std::vector<std::string> args_;
};

/// The learning rates of the runs that a program started.
std::vector<double> started_rates(const Program& program) {
    std::vector<double> rates;
    for (const auto& event : events_of(program, "start"))
        rates.push_back(event.at("config").at("optimizer").at("lr"));
    return rates;
}

/// Reads until the second run has computed steps.
void read_into_second_run(Program& program) {
    std::string line;
    int starts = 0;
    while (program.read_line(line)) {
        starts += line.find("\"event\":\"start\"") != std::string::npos;
        if (starts == 2 && line.find("\"step\":20,") != std::string::npos) return;
    }
    FAIL() << "the second run did not begin: " << program.errors();
}

const std::vector<std::string> three_rates = {"--grid", "optimizer.lr=0.1,0.05,0.01", "--set",
                                              "epochs=30"};

TEST(Sweep, RunsEveryPointAndEndsWithARowForEachBestFirst) {
    const Sweep sweep(three_rates);
    const auto program = sweep.run();
    EXPECT_EQ(program->exit_code(), 0) << program->errors();
    EXPECT_THAT(started_rates(*program), ElementsAre(0.1, 0.05, 0.01));
    const auto rows = events_of(*program, "sweep");
    ASSERT_THAT(rows, SizeIs(3));
    double before = 1;
    std::set<std::string> settings;
    for (const auto& row : rows) {
        EXPECT_LE(row.at("best").get<double>(), before);
        before = row.at("best");
        EXPECT_EQ(row.at("finished"), 1);
        settings.insert(row.at("settings"));
    }
    EXPECT_THAT(settings,
                ElementsAre("optimizer.lr=0.01", "optimizer.lr=0.05", "optimizer.lr=0.1"));
}

TEST(Sweep, DoesNotRunAgainWhatHasEnded) {
    const Sweep sweep(three_rates);
    const auto first = sweep.run(), second = sweep.run(), again = sweep.run({"--again"});
    EXPECT_THAT(started_rates(*second), IsEmpty());
    EXPECT_EQ(events_of(*second, "sweep"), events_of(*first, "sweep"));
    EXPECT_THAT(started_rates(*again), SizeIs(3));
}

/// For each resumed run: the steps that it had when it was resumed.
std::vector<std::int64_t> resumed_steps(const Program& program) {
    std::vector<std::int64_t> steps;
    for (const auto& event : events_of(program, "resumed")) steps.push_back(event.at("step"));
    return steps;
}

TEST(Sweep, CtrlCEndsItAndTheSameCommandGoesOnWithTheRunThatWasStopped) {
    const Sweep sweep({"--grid", "optimizer.lr=0.1,0.05,0.01", "--set", "epochs=200"});
    const auto first = sweep.start();
    read_into_second_run(*first);
    first->signal(SIGINT);
    first->finish();
    EXPECT_EQ(first->exit_code(), 0) << first->errors();
    EXPECT_THAT(started_rates(*first), ElementsAre(0.1, 0.05));
    EXPECT_EQ(events_of(*first, "done").back().at("reason"), "stopped");
    const auto second = sweep.run();
    EXPECT_EQ(second->exit_code(), 0) << second->errors();
    EXPECT_THAT(started_rates(*second), ElementsAre(0.05, 0.01));
    ASSERT_THAT(resumed_steps(*second), SizeIs(1)) << "of the run that was stopped";
    EXPECT_GE(resumed_steps(*second)[0], 20);
    for (const auto& row : events_of(*second, "sweep")) EXPECT_EQ(row.at("finished"), 1);
}

TEST(Sweep, GoesOnAfterItWasKilled) {
    const Sweep sweep({"--grid", "optimizer.lr=0.1,0.05,0.01", "--set", "epochs=200"});
    const auto first = sweep.start();
    read_into_second_run(*first);
    first->signal(SIGKILL);
    first->finish();
    const auto second = sweep.run();
    EXPECT_EQ(second->exit_code(), 0) << second->errors();
    EXPECT_THAT(started_rates(*second), ElementsAre(0.05, 0.01));
    const auto rows = events_of(*second, "sweep");
    ASSERT_THAT(rows, SizeIs(3));
    for (const auto& row : rows) EXPECT_EQ(row.at("finished"), 1);
}

TEST(Sweep, RunsInAFolderGoOnThere) {
    const test_support::TempFolder out;
    const Sweep sweep(
        {"--grid", "optimizer.lr=0.1,0.05", "--set", "epochs=200", "--out", out.str()});
    const auto first = sweep.start();
    read_into_second_run(*first);
    first->signal(SIGKILL);
    first->finish();
    sweep.run();
    std::set<std::string> folders;
    for (const auto& entry : std::filesystem::directory_iterator(out.path()))
        folders.insert(entry.path().filename());
    EXPECT_THAT(folders, ElementsAre("run-1", "run-2")) << "the run that was killed goes on";
}

TEST(Sweep, SeedsAreOneRowWithTheirSpread) {
    const Sweep sweep({"--grid", "optimizer.lr=0.1", "--seeds", "3"});
    const auto program = sweep.run();
    const auto rows = events_of(*program, "sweep");
    ASSERT_THAT(rows, SizeIs(1));
    EXPECT_EQ(rows[0].at("finished"), 3);
    EXPECT_GT(rows[0].at("best_spread"), 0);
}

TEST(Sweep, RefusesAllBadPointsBeforeAnythingStarts) {
    const Sweep sweep({"--grid", "optimizer.lr=0.1,-1", "--grid", "epochs=0,1"});
    const auto program = sweep.run();
    EXPECT_EQ(program->exit_code(), 2);
    EXPECT_THAT(program->output(), IsEmpty());
    EXPECT_THAT(program->errors(), HasSubstr("optimizer.lr: -1"));
    EXPECT_THAT(program->errors(), HasSubstr("epochs: 0"));
}

TEST(Sweep, ReadsAListOfPoints) {
    const test_support::TempFolder folder;
    const std::string list = folder.write(
        "points.jsonl",
        std::string(
            "{\"optimizer.lr\": 0.02}\n{\"optimizer\": {\"lr\": 0.03, \"momentum\": 0}}\n"));
    const Sweep sweep({"--list", list});
    EXPECT_THAT(started_rates(*sweep.run()), ElementsAre(0.02, 0.03));
    const Sweep absent({"--list", (folder / "absent").string()});
    EXPECT_EQ(absent.run()->exit_code(), 2);
}

TEST(Sweep, APointThatDivergesIsAResultAndOnlyAllOfThemAreAFailure) {
    const std::vector<std::string> unstable = {"--set", "precision.preset=fp32", "--set",
                                               "stop_on_nan=5"};
    const auto with = [&](const std::string& rates) {
        std::vector<std::string> args = unstable;
        args.insert(args.end(), {"--grid", rates});
        return Sweep(args).run();
    };
    const auto one = with("optimizer.lr=0.05,1e30");
    EXPECT_EQ(one->exit_code(), 0) << one->errors();
    const auto rows = events_of(*one, "sweep");
    ASSERT_THAT(rows, SizeIs(2));
    EXPECT_EQ(rows[0].at("failed"), 0);
    EXPECT_EQ(rows[1].at("settings"), "optimizer.lr=1e30");
    EXPECT_EQ(rows[1].at("failed"), 1);
    EXPECT_EQ(with("optimizer.lr=1e30,1e31")->exit_code(), 5);
}

TEST(Sweep, DataThatCannotBeReadEndItAndAreTriedAgain) {
    const Sweep sweep({"--set", "dataset.kind=csv", "--set", "dataset.path=/nowhere.csv", "--grid",
                       "optimizer.lr=0.1,0.05"});
    const auto program = sweep.run();
    EXPECT_EQ(program->exit_code(), 3);
    for (const auto& row : events_of(*program, "sweep")) EXPECT_EQ(row.at("finished"), 0);
    EXPECT_EQ(sweep.run()->exit_code(), 3);
}

}  // namespace
}  // namespace app
