#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kept_runs.h"

namespace app {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

class Runs : public KeptRuns {};

TEST_F(Runs, AnEmptyHistorySaysWhereItLooked) {
    EXPECT_THAT(lines({"runs"}), Contains(StartsWith("No runs in " + home_.str())));
    EXPECT_THAT(lines({"runs", "--json"}), IsEmpty());
}

TEST_F(Runs, AreListedNewestFirst) {
    train({"--set", "max_steps=3", "--set", "precision.preset=fp32"});
    train({"--set", "max_steps=5"});
    const auto table = lines({"runs"});
    ASSERT_THAT(table, SizeIs(3));
    EXPECT_THAT(table[0], StartsWith("run  started"));
    EXPECT_THAT(table[1], StartsWith("2 "));
    EXPECT_THAT(table[1], HasSubstr("done"));
    EXPECT_THAT(table[2], HasSubstr("fp32"));
    const auto objects = lines({"runs", "--json"});
    ASSERT_THAT(objects, SizeIs(2));
    const auto first = nlohmann::json::parse(objects[0]);
    EXPECT_EQ(first.at("run"), "2");
    EXPECT_EQ(first.at("state"), "done");
    EXPECT_EQ(first.at("steps"), 5);
    EXPECT_EQ(first.at("config").at("max_steps"), 5);
    EXPECT_TRUE(first.at("test_loss").is_number());
}

TEST_F(Runs, OneIsShownByItsNumberAndByItsFolder) {
    train({"--set", "max_steps=5", "--set", "optimizer.lr=0.25"});
    const std::string folder = (home_ / "halftone" / "runs" / "1").string();
    for (const std::string& name : {std::string("1"), folder}) {
        const auto page = lines({"show", name});
        EXPECT_THAT(page, Contains("Run 1"));
        EXPECT_THAT(page, Contains("  optimizer.lr = 0.25"));
        EXPECT_THAT(page, Contains(HasSubstr("test accuracy")));
        const auto objects = lines({"show", "--json", name});
        ASSERT_FALSE(objects.empty());
        EXPECT_EQ(nlohmann::json::parse(objects.front()).at("run"), "1");
        EXPECT_EQ(nlohmann::json::parse(objects[1]).at("event"), "start");
        EXPECT_EQ(nlohmann::json::parse(objects.back()).at("event"), "done");
    }
}

TEST_F(Runs, OneIsListedAndShownByTheTitleThatItWasGiven) {
    train({"--set", "max_steps=5"});
    train({"--set", "max_steps=5"});
    const auto runs = home_ / "halftone" / "runs";
    std::ofstream(runs / "1" / "notes.json") << R"({"title": "first try"})";
    std::filesystem::remove(runs / "runs.db");
    const auto table = lines({"runs"});
    EXPECT_THAT(table[2], HasSubstr("first try"));
    const auto page = lines({"show", "first try"});
    EXPECT_THAT(page, Contains("Run 1"));
    EXPECT_THAT(page, Contains("title: first try"));
}

TEST_F(Runs, AFolderOutsideTheHistoryIsShownToo) {
    const test_support::TempFolder elsewhere;
    train_in(elsewhere, {"--set", "max_steps=5"});
    EXPECT_THAT(lines({"show", (elsewhere / "halftone" / "runs" / "1").string()}),
                Contains(HasSubstr("done")));
    EXPECT_THAT(lines({"runs", "--json"}), IsEmpty()) << "looking enters nothing";
}

TEST_F(Runs, AreFilteredSortedAndCut) {
    train({"--set", "max_steps=3", "--set", "precision.preset=fp32"});
    train({"--set", "max_steps=5"});
    train({"--set", "max_steps=4"});
    EXPECT_THAT(lines({"runs", "max_steps>3"}), SizeIs(3));
    EXPECT_THAT(lines({"runs", "max_steps>3", "max_steps<5"}), SizeIs(2));
    EXPECT_THAT(lines({"runs", "precision=fp32"})[1], StartsWith("1 "));
    EXPECT_THAT(lines({"runs", "--", "-precision=fp32"}), SizeIs(3));
    EXPECT_THAT(lines({"runs", "-precision=fp32", "max_steps>4"}), SizeIs(2));
    EXPECT_THAT(lines({"runs", "-precision=fp32", "--", "-max_steps>4"}), SizeIs(2));
    const auto sorted = lines({"runs", "--sort", "steps", "--reverse", "--limit", "2"});
    ASSERT_THAT(sorted, SizeIs(3));
    EXPECT_THAT(sorted[1], StartsWith("2 "));
    EXPECT_THAT(sorted[2], StartsWith("3 "));
    EXPECT_THAT(lines({"runs", "lr=7"}), Contains("No run matches the filter."));
}

TEST_F(Runs, AFilterOrOrderThatIsWrongExitsWith2AndSaysWhatIsMeant) {
    train({"--set", "max_steps=3"});
    EXPECT_THAT(lines({"runs", "test_acuracy>0"}, 2), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("test_acuracy: there is no such setting or result"));
    EXPECT_THAT(errors_, HasSubstr("Did you mean test_accuracy?"));
    EXPECT_THAT(lines({"runs", "--sort", "patience"}, 2), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("schedule.patience"));
}

TEST_F(Runs, OneGetsANameTagsNotesAndAStar) {
    train({"--set", "max_steps=3"});
    train({"--set", "max_steps=3"});
    lines({"label", "1", "--title", "first try", "--tags", "a, b", "--notes", "slow", "--star"});
    EXPECT_THAT(lines({"runs", "--starred", "--json"}), SizeIs(1));
    const auto found = lines({"runs", "tag:b", "name=\"first try\"", "--json"});
    ASSERT_THAT(found, SizeIs(1));
    const auto run = nlohmann::json::parse(found[0]);
    EXPECT_EQ(run.at("notes"), "slow");
    EXPECT_EQ(run.at("starred"), true);
    EXPECT_THAT(lines({"runs", "-starred", "--json"}), SizeIs(1));
    EXPECT_THAT(lines({"runs", "--json", "--sort", "steps", "-tag:b"}), SizeIs(1));
    lines({"runs", "--stared"}, 2);
    EXPECT_THAT(errors_, HasSubstr("--stared")) << "a misspelt option is no term";
    lines({"label", "first try", "--no-star", "--notes", ""});
    EXPECT_THAT(lines({"runs", "--starred", "--json"}), IsEmpty());
    EXPECT_THAT(lines({"show", "1"}), Contains("tags: a, b")) << "what is not given stays";
    lines({"label", "1"}, 2);
    EXPECT_THAT(errors_, HasSubstr("give --title"));
    lines({"label", "7", "--star"}, 2);
}

TEST_F(Runs, SeveralAreShownSideBySide) {
    train({"--set", "max_steps=3"});
    train({"--set", "max_steps=5"});
    const auto page = lines({"show", "1", "2"});
    EXPECT_THAT(page, Contains(testing::MatchesRegex("max_steps +3 +5")));
    EXPECT_THAT(page, Contains(testing::MatchesRegex("steps +3 +5")));
    const auto objects = lines({"show", "--json", "1", "2"});
    ASSERT_THAT(objects, SizeIs(3));
    const auto differences = nlohmann::json::parse(objects[2]);
    EXPECT_EQ(differences.at("settings").size(), 1u);
    EXPECT_EQ(differences.at("settings").at("max_steps"), nlohmann::json({"3", "5"}));
    EXPECT_EQ(differences.at("runs"), nlohmann::json({"1", "2"}));
}

TEST_F(Runs, OfOneComparisonShareAGroup) {
    Program program(spirals("compare", {"--set", "max_steps=3"}), {home_.str(), {}});
    program.finish();
    train({"--set", "max_steps=3"});
    std::vector<std::string> groups;
    for (const auto& line : lines({"runs", "--json"}))
        groups.push_back(nlohmann::json::parse(line).at("group"));
    ASSERT_THAT(groups, SizeIs(3));
    EXPECT_EQ(groups[0], "") << "a run by itself";
    EXPECT_EQ(groups[1], groups[2]);
    EXPECT_FALSE(groups[1].empty());
}

TEST_F(Runs, AnUnknownOneExitsWith2) {
    EXPECT_THAT(lines({"show", "7"}, 2), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("7: neither a run of the history nor a run's folder"));
}

TEST_F(Runs, SpareCheckpointsAreDeletedAloneAndTheSizeOnDiskIsShown) {
    train({"--set", "max_steps=6", "--set", "checkpoint.every_steps=1", "--set",
           "checkpoint.keep=10"});
    EXPECT_THAT(lines({"runs"})[0], HasSubstr("on disk"));
    const auto size = [&] {
        return nlohmann::json::parse(lines({"runs", "--json"})[0]).at("disk_bytes").get<double>();
    };
    const double before = size();
    EXPECT_THAT(lines({"delete", "1", "--checkpoints", "--yes"}),
                Contains(testing::ContainsRegex("^Run 1: [45] checkpoints deleted, ")));
    EXPECT_LT(size(), before);
    EXPECT_THAT(lines({"runs", "--json"}), SizeIs(1)) << "the run stays";
    EXPECT_THAT(lines({"delete", "1", "--checkpoints", "--yes"}),
                Contains(StartsWith("Run 1: 0 checkpoints deleted")));
}

TEST_F(Runs, AProblemIsReportedWithoutThePathOfTheData) {
    train({"--set", "max_steps=3"});
    const auto shown = lines({"report-problem", "1", "--show"});
    for (const char* name : {"versions.txt", "machine.txt", "settings.json", "events.jsonl",
                             "steps.jsonl"})
        EXPECT_THAT(shown, Contains("== " + std::string(name) + " =="));
    for (const std::string& line : shown)
        EXPECT_THAT(line, testing::Not(HasSubstr(home_.str()))) << line;
    const std::string file = (home_ / "problem.zip").string();
    EXPECT_THAT(lines({"report-problem", "1", "-o", file}), Contains(StartsWith(file)));
    EXPECT_TRUE(std::filesystem::is_regular_file(file));
}

}  // namespace
}  // namespace app
