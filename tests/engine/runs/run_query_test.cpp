#include "engine/runs/run_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/base/error.h"
#include "support/part_figures.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunSummary queried_run(const std::string& id, const std::string& settings) {
    RunSummary run;
    run.run = id;
    run.config = parse_run_config(settings).config;
    run.state = "done";
    run.started = "2026-11-23T10:20:30";
    return run;
}

/// Three runs that differ in the fields that the filters use.
std::vector<RunSummary> three_runs() {
    std::vector<RunSummary> runs = {
        queried_run("1", R"({"optimizer": {"lr": 0.1}, "precision": {"preset": "fp32"}})"),
        queried_run("2", R"({"dataset": {"kind": "spirals"}, "model": {"kind": "mlp",
                        "options": {"hidden": [64, 32]}}, "optimizer": {"lr": 0.01}})"),
        queried_run("3", R"({"model": {"kind": "resnet18"}, "optimizer": {"kind": "adam",
                        "lr": 0.001}, "dataset": {"augment": true}})")};
    runs[0].test = classified(0.5, 0.83);
    runs[0].steps = 100;
    runs[1].title = "First Try";
    runs[1].tags = "sweep, small";
    runs[1].starred = true;
    runs[1].skipped = 4;
    runs[1].test = classified(0.3, 0.91);
    runs[2].notes = "too slow: stop here";
    runs[2].state = "stopped";
    runs[2].started = "2026-10-31T23:59:59";
    return runs;
}

/// Ids of the runs that a filter selects.
std::vector<std::string> matching(const std::string& filter,
                                  const std::vector<RunSummary>& runs = three_runs()) {
    const auto fields = run_fields(runs);
    const RunQuery query(filter, fields);
    std::vector<std::string> out;
    for (const auto& run : runs) {
        if (query.matches(run)) out.push_back(run.run);
    }
    return out;
}

/// The error of a filter: the sentence, then the hint.
std::string error_text(const std::string& filter) {
    try {
        const auto fields = run_fields();
        const RunQuery query(filter, fields);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        return error.message().str() + " | " + error.hint().str();
    }
    return "accepted";
}

TEST(RunQuery, AnEmptyOneHoldsForEveryRun) {
    EXPECT_THAT(matching(""), ElementsAre("1", "2", "3"));
    EXPECT_THAT(matching("  \t"), ElementsAre("1", "2", "3"));
    EXPECT_TRUE(RunQuery().matches(three_runs().front()));
}

TEST(RunQuery, AWordIsLookedForInWhatTheRunIsCalledAndNotedAndTrains) {
    EXPECT_THAT(matching("first"), ElementsAre("2"));
    EXPECT_THAT(matching("SLOW"), ElementsAre("3"));
    EXPECT_THAT(matching("small"), ElementsAre("2"));
    EXPECT_THAT(matching("spiral"), ElementsAre("2"));
    EXPECT_THAT(matching("resnet"), ElementsAre("3"));
    EXPECT_THAT(matching("fp32"), ElementsAre("1"));
    EXPECT_THAT(matching("\"first try\""), ElementsAre("2"));
    EXPECT_THAT(matching("\"try first\""), IsEmpty());
}

TEST(RunQuery, ANumberFindsTheRunOfThatIdAndNoLongerOne) {
    auto runs = three_runs();
    runs.push_back(queried_run("12", "{}"));
    EXPECT_THAT(matching("1", runs), ElementsAre("1"));
    EXPECT_THAT(matching("run>2", runs), ElementsAre("3", "12"));
}

TEST(RunQuery, TermsSideBySideMustAllHoldAndADashNegatesOne) {
    EXPECT_THAT(matching("lr<0.05 -resnet"), ElementsAre("2"));
    EXPECT_THAT(matching("-lr<0.05"), ElementsAre("1"));
    EXPECT_THAT(matching("first resnet"), IsEmpty());
    EXPECT_THAT(matching("-starred"), ElementsAre("1", "3"));
    EXPECT_THAT(matching("-\"first try\""), ElementsAre("1", "3"));
}

TEST(RunQuery, SettingsCompareByTheirPathOrItsEnd) {
    EXPECT_THAT(matching("optimizer.lr=0.01"), ElementsAre("2"));
    EXPECT_THAT(matching("lr=1e-2"), ElementsAre("2"));
    EXPECT_THAT(matching("lr!=0.01"), ElementsAre("1", "3"));
    EXPECT_THAT(matching("lr>=0.01"), ElementsAre("1", "2"));
    EXPECT_THAT(matching("lr<=0.01"), ElementsAre("2", "3"));
    EXPECT_THAT(matching("lr>0.01"), ElementsAre("1"));
    EXPECT_THAT(matching("augment=true"), ElementsAre("3"));
    EXPECT_THAT(matching("hidden=64,32"), ElementsAre("2"));
    EXPECT_THAT(matching("hidden=\"[64, 32]\""), ElementsAre("2"));
    EXPECT_THAT(matching("LR=0.01"), ElementsAre("2")) << "upper and lower case are the same";
}

TEST(RunQuery, ASectionStandsForItsKindAndAPresetForWhatItIsMadeOf) {
    EXPECT_THAT(matching("model=mlp"), ElementsAre("2"));
    EXPECT_THAT(matching("model~NET"), ElementsAre("1", "3"));
    EXPECT_THAT(matching("precision=fp32"), ElementsAre("1"));
    EXPECT_THAT(matching("autocast=fp16"), ElementsAre("2", "3"));
    EXPECT_THAT(matching("optimizer=adam"), ElementsAre("3"));
}

TEST(RunQuery, ASettingOrFigureThatARunLacksComparesWithNothing) {
    EXPECT_THAT(matching("momentum=0.9"), ElementsAre("1", "2")) << "Adam has none";
    EXPECT_THAT(matching("momentum!=0.5"), ElementsAre("1", "2"));
    EXPECT_THAT(matching("-momentum=0.9"), ElementsAre("3"));
    EXPECT_THAT(matching("test_accuracy<1"), ElementsAre("1", "2"));
}

TEST(RunQuery, ResultsTagsStateAndDates) {
    EXPECT_THAT(matching("test_accuracy>=0.9"), ElementsAre("2"));
    EXPECT_THAT(matching("test_loss<0.4"), ElementsAre("2"));
    EXPECT_THAT(matching("skipped>0"), ElementsAre("2"));
    EXPECT_THAT(matching("tag:sweep"), ElementsAre("2"));
    EXPECT_THAT(matching("tag:swee"), IsEmpty()) << "a whole tag";
    EXPECT_THAT(matching("tags~swee"), ElementsAre("2"));
    EXPECT_THAT(matching("state:stopped"), ElementsAre("3"));
    EXPECT_THAT(matching("starred"), ElementsAre("2"));
    EXPECT_THAT(matching("name=\"first try\""), ElementsAre("2"));
    EXPECT_THAT(matching("started=2026-11"), ElementsAre("1", "2"));
    EXPECT_THAT(matching("started<2026-11"), ElementsAre("3"));
    EXPECT_THAT(matching("started>2026-11"), IsEmpty()) << "November is not after November";
    EXPECT_THAT(matching("started>=\"2026-11-23 10:20\""), ElementsAre("1", "2"));
}

TEST(RunQuery, QuotesTakeOperatorsAsTheyAre) {
    EXPECT_THAT(matching("\"slow: stop\""), ElementsAre("3"));
    auto runs = three_runs();
    runs[0].title = "say \"lr=1\"";
    EXPECT_THAT(matching(R"("say \"lr=1\"")", runs), ElementsAre("1"));
}

TEST(RunQuery, MetricsOfTheRunsAtHandAreFieldsToo) {
    auto runs = three_runs();
    runs[1].metrics = {{"dice", "Dice"}};
    runs[1].test = {0.3, {{"dice", 0.7}}};
    EXPECT_THAT(matching("test_dice>0.5", runs), ElementsAre("2"));
    EXPECT_THAT(error_text("test_dice>0.5"), HasSubstr("test_dice: there is no such setting"));
}

TEST(RunQuery, OfAnotherProgramOnlyTheCommonSettingsAreKnown) {
    auto runs = three_runs();
    runs[0].origin = RunOrigin{.program = "PyTorch 2.15.0", .model = "ResNet"};
    EXPECT_THAT(matching("lr=0.1", runs), IsEmpty()) << "a default that it never had";
    EXPECT_THAT(matching("precision=fp32", runs), ElementsAre("1"));
    EXPECT_THAT(matching("model=resnet", runs), ElementsAre("1"));
}

TEST(RunQuery, AnUnknownNameIsRefusedWithTheOneThatIsMeant) {
    EXPECT_EQ(error_text("test_acuracy>0.9"),
              "test_acuracy: there is no such setting or result | Did you mean test_accuracy?");
    EXPECT_THAT(error_text("quux=1"), HasSubstr("Use the path of a setting"));
}

TEST(RunQuery, AnAmbiguousNameIsRefusedWithItsCandidates) {
    const std::string text = error_text("patience=3");
    EXPECT_THAT(text, HasSubstr("patience: several settings have this name: "));
    EXPECT_THAT(text, HasSubstr("schedule.patience"));
    EXPECT_THAT(text, HasSubstr("early_stopping.patience"));
}

TEST(RunQuery, RefusesWhatCannotBeComparedAndSaysWhatCan) {
    EXPECT_THAT(error_text("lr>fast"), HasSubstr("lr>fast: optimizer.lr is a number"));
    EXPECT_THAT(error_text("lr="), HasSubstr("there is nothing to compare with"));
    EXPECT_THAT(error_text("=3"), HasSubstr("a field is missing in front of the operator"));
    EXPECT_THAT(error_text("model>mlp"), HasSubstr("Use =, != or ~ (contains)."));
    EXPECT_THAT(error_text("augment=yes"), HasSubstr("Write dataset.augment=true"));
    EXPECT_THAT(error_text("hidden>wide"), HasSubstr("is a number"));
    EXPECT_THAT(error_text("\"open"), HasSubstr("open: the closing quote is missing"));
    EXPECT_THAT(error_text("lr=1 -"), HasSubstr("a dash negates the term right behind it"));
}

TEST(RunQuery, TagsAreSplitAtCommas) {
    EXPECT_THAT(split_tags(" a b ,c;, d"), ElementsAre("a b", "c", "d"));
    EXPECT_THAT(split_tags(""), IsEmpty());
}

}  // namespace
}  // namespace engine
