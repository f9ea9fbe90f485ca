// A comparison and a sweep as one object on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kept_runs.h"

namespace app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class ComparisonAsOne : public KeptRuns {
protected:
    /// Steps of a millisecond, so that a signal comes before the last one. With one thread they
    /// take hardly longer, and do not wait for another where the machine is busy.
    const std::vector<std::string> settings_ = {
        "--set", "model.options.hidden=256,256", "--set", "max_steps=250", "--set", "epochs=1000",
        "--set", "threads=1"};

    /// Ends it by this signal once both runs have made steps.
    void interrupt_comparison(int signal, const std::vector<std::string>& more = {}) {
        std::vector<std::string> settings = settings_;
        settings.insert(settings.end(), more.begin(), more.end());
        Program program(spirals("compare", settings), {home_.str(), {}});
        std::string line;
        while (program.read_line(line) && (line.find("\"step\":20,") == std::string::npos ||
                                           line.find("\"run\":\"2\"") == std::string::npos)) {
        }
        program.signal(signal);
        program.finish();
    }
    std::vector<json> runs() {
        std::vector<json> out;
        for (const auto& line : lines({"runs", "--json"})) out.push_back(json::parse(line));
        return out;
    }
    std::vector<std::string> states() {
        std::vector<std::string> out;
        for (const auto& run : runs()) out.push_back(run.at("state"));
        return out;
    }
};

TEST_F(ComparisonAsOne, AStoppedComparisonIsResumedAsOneAndEndsAsIfNeverStopped) {
    interrupt_comparison(SIGTERM);
    EXPECT_THAT(states(), ElementsAre("stopped", "stopped"));
    EXPECT_THAT(json::parse(lines({"show", "g1", "--json"}).front()).at("state"), "stopped");
    const auto page = lines({"resume", "g1"});
    EXPECT_THAT(page, Contains(HasSubstr("Comparison 1 (g1), 2 runs, done")));
    EXPECT_THAT(page, Contains(HasSubstr("amp-fp16 against fp32: ")));
    const auto resumed = runs();
    ASSERT_THAT(resumed, SizeIs(2));

    const test_support::TempFolder other;
    Program whole(spirals("compare", settings_), {other.str(), {}});
    whole.finish();
    Program listed({"runs", "--json"}, {other.str(), {}});
    listed.finish();
    for (std::size_t i = 0; i < 2; ++i) {
        const json expected = json::parse(listed.output().at(i));
        for (const char* figure : {"steps", "skipped", "test_loss", "test_accuracy", "state"})
            EXPECT_EQ(resumed[i].at(figure), expected.at(figure)) << i << figure;
    }
    expect_refused({"resume", "g1"}, 2, "There is nothing to resume: all 2 runs have ended.");
}

TEST_F(ComparisonAsOne, AKilledComparisonIsResumedAsOneAndItsOtherSeedIsBegun) {
    interrupt_comparison(SIGKILL, {"--seeds", "2"});
    EXPECT_THAT(states(), ElementsAre("interrupted", "interrupted"));
    EXPECT_THAT(json::parse(lines({"show", "g1", "--json"}).front()).at("state"), "interrupted");
    lines({"resume", "g1", "--json"});
    EXPECT_THAT(states(), ElementsAre("done", "done", "done", "done"));
    std::vector<std::string> trained;  // the newest first
    for (const auto& run : runs()) {
        const json& config = run.at("config");
        trained.push_back(config.at("precision").at("preset").get<std::string>() + ' ' +
                          config.at("seed").dump());
        EXPECT_EQ(run.at("group_number"), 1);
    }
    EXPECT_THAT(trained, testing::UnorderedElementsAre("fp32 1", "amp-fp16 1", "fp32 2",
                                                       "amp-fp16 2"));
    expect_refused({"resume", "g1"}, 2, "There is nothing to resume: all 4 runs have ended.");
}

TEST_F(ComparisonAsOne, IsExportedImportedLabelledAndDeletedAsOne) {
    lines(spirals("compare", {"--set", "max_steps=5"}));
    train({"--set", "max_steps=5"});
    const std::string file = (home_ / "both.halftone").string();
    EXPECT_THAT(lines({"export", "g1", "--to", "run", "-o", file}), ElementsAre(file));
    EXPECT_THAT(lines({"import", file}),
                ElementsAre(StartsWith("Imported as run 4,"), StartsWith("Imported as run 5,"),
                            "Comparison 2 (g2): 2 runs"));
    const auto precisions = [&] {
        std::vector<std::string> out;
        for (const auto& run : runs()) out.push_back(run.at("config").at("precision").at("preset"));
        return out;
    };
    EXPECT_THAT(precisions(),
                testing::UnorderedElementsAre("amp-fp16", "fp32", "amp-fp16", "amp-fp16", "fp32"));
    lines({"label", "g2", "--tags", "copy"});
    EXPECT_THAT(lines({"runs", "tag:copy", "--json"}), SizeIs(2));
    expect_refused({"delete", "g2"}, 2, "Nothing was deleted");
    EXPECT_THAT(lines({"delete", "g2", "--yes"}), ElementsAre("Deleted run 4", "Deleted run 5"));
    EXPECT_THAT(lines({"runs", "--json"}), SizeIs(3));
    EXPECT_TRUE(fs::exists(home_ / "halftone" / "runs" / "3"));
    EXPECT_FALSE(fs::exists(home_ / "halftone" / "runs" / "4"));
}

TEST_F(ComparisonAsOne, HasTheExportsThatHaveRoomForSeveralRuns) {
    lines(spirals("compare", {"--set", "max_steps=5"}));
    const std::string table = (home_ / "both.csv").string();
    lines({"export", "g1", "--to", "csv", "-o", table});
    std::ifstream rows(table);
    EXPECT_EQ(std::count(std::istreambuf_iterator<char>(rows), {}, '\n'), 1 + 2 * 5);
    const std::string report = (home_ / "r.html").string();
    lines({"export", "g1", "--to", "report.html", "-o", report});
    EXPECT_TRUE(fs::exists(report));
    expect_refused({"export", "g1", "--to", "onnx", "-o", "x.onnx"}, 2, "onnx is of one run");
    expect_refused({"resume", "g1", "--set", "epochs=9"}, 2, "goes on as it was");
    expect_refused({"show", "g7"}, 2, "neither a run of the history");
    expect_refused({"eval", "g1"}, 2, "this command takes one of its runs");
}

TEST_F(ComparisonAsOne, ASweepGoesOnWithThePointsThatWereNotBegun) {
    std::vector<std::string> more = {"--grid", "optimizer.lr=0.1,0.05,0.01"};
    more.insert(more.end(), settings_.begin(), settings_.end());
    const auto args = spirals("sweep", more);
    Program program(args, {home_.str(), {}});
    std::string line;
    int starts = 0;
    while (starts < 2 && program.read_line(line))
        starts += line.find("\"event\":\"start\"") != std::string::npos ? 1 : 0;
    program.signal(SIGTERM);
    program.finish();
    EXPECT_THAT(runs(), SizeIs(2));
    EXPECT_THAT(lines({"show", "g1"}), Contains(HasSubstr("Sweep 1 (g1), 2 runs, stopped")));
    lines({"resume", "g1", "--json"});
    EXPECT_THAT(states(), ElementsAre("done", "done", "done"));
    for (const auto& run : runs()) EXPECT_EQ(run.at("group_number"), 1);
}

TEST_F(ComparisonAsOne, ASweepThatTheQueueHasLostGoesOnAsOne) {
    std::vector<std::string> more = {"--grid", "optimizer.lr=0.1,0.05,0.01"};
    more.insert(more.end(), settings_.begin(), settings_.end());
    Program program(spirals("sweep", more), {home_.str(), {}});
    std::string line;
    int starts = 0;
    while (starts < 2 && program.read_line(line))
        starts += line.find("\"event\":\"start\"") != std::string::npos ? 1 : 0;
    program.signal(SIGTERM);
    program.finish();
    ASSERT_TRUE(fs::remove(home_ / "halftone" / "runs" / "queue.db"));
    const auto output = lines({"resume", "g1", "--json"});
    EXPECT_THAT(states(), ElementsAre("done", "done")) << "the third point is not known any more";
    for (const auto& run : runs()) EXPECT_EQ(run.at("group_number"), 1);
    EXPECT_THAT(output, Contains(HasSubstr("\"sweep_verdict\""))) << "it ends as a sweep does";
    EXPECT_EQ(std::ranges::count_if(
                  output, [](const auto& each) { return each.find("\"event\":\"sweep\"") !=
                                                        std::string::npos; }),
              2);
}

}  // namespace
}  // namespace app
