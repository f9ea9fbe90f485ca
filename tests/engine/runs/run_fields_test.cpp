#include "engine/runs/run_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "engine/settings/catalog.h"
#include "support/part_figures.h"

namespace engine {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;

RunSummary run_of_settings(const std::string& id, const std::string& settings = "{}") {
    RunSummary run;
    run.run = id;
    run.config = parse_run_config(settings).config;
    return run;
}

RunField field(const std::string& name) {
    const auto fields = run_fields();
    const RunField* found = find_run_field(fields, name);
    EXPECT_NE(found, nullptr) << name;
    return found == nullptr ? RunField{} : *found;
}

std::vector<std::string> ordered(const std::vector<RunSummary>& runs, const std::string& name,
                                 bool descending = false) {
    std::vector<std::string> out;
    for (const std::size_t at : order_by(runs, field(name), descending))
        out.push_back(runs[at].run);
    return out;
}

TEST(RunFields, TestMetricsOfDifferentTasksAreOrderedByThemselves) {
    const auto evaluated = [](const std::string& id, const std::string& metric, double value) {
        RunSummary run = run_of_settings(id);
        run.metrics = {{.key = metric, .title = metric}};
        run.test = {.loss = 1, .metrics = {{metric, value}}};
        return run;
    };
    const std::vector<RunSummary> runs = {
        evaluated("a", "accuracy", 0.5), evaluated("r", "rmse", 59'000),
        evaluated("b", "accuracy", 0.9), evaluated("p", "perplexity", 14)};
    EXPECT_THAT(ordered(runs, "test_metric"), ElementsAre("a", "b", "p", "r"));
    EXPECT_THAT(ordered(runs, "test_metric", true), ElementsAre("b", "a", "p", "r"));
}

TEST(RunFields, NameEverySettingOfTheCatalogAndEveryMetric) {
    const auto all = run_fields();
    for (const FieldInfo& info : fields())
        EXPECT_EQ(find_run_field(all, info.path) != nullptr, !info.in_files) << info.path;
    for (const TaskDescriptor& task : tasks()) {
        for (const Metric& metric : task.metrics)
            EXPECT_NE(find_run_field(all, "test_" + metric.key), nullptr) << metric.key;
    }
    EXPECT_EQ(field("optimizer.lr").label, find_field("optimizer.lr")->label);
}

TEST(RunFields, EverySettingOfARunHasTheTypeOfItsField) {
    const RunSummary run = run_of_settings("1");
    for (const RunField& each : run_fields()) {
        const RunValue value = value_of(run, each);
        if (!each.is_setting || !is_known(value)) continue;
        const bool is_number =
            std::holds_alternative<double>(value) || std::holds_alternative<std::int64_t>(value);
        if (each.kind == RunField::Kind::number) {
            EXPECT_TRUE(is_number) << each.name;
        }
        if (each.kind == RunField::Kind::flag) {
            EXPECT_TRUE(std::holds_alternative<bool>(value)) << each.name;
        }
        if (each.kind == RunField::Kind::text) {
            EXPECT_TRUE(std::holds_alternative<std::string>(value)) << each.name;
        }
    }
}

TEST(RunFields, ValuesAreWrittenShort) {
    RunSummary run =
        run_of_settings("7", R"({"model": {"kind": "mlp", "options": {"hidden": [64, 32]}}})");
    run.test = classified(0.5, 0.25);
    EXPECT_EQ(to_string(value_of(run, field("optimizer.lr"))), "0.05");
    EXPECT_EQ(to_string(value_of(run, field("model.options.hidden"))), "64,32");
    EXPECT_EQ(to_string(value_of(run, field("test_accuracy"))), "0.25");
    EXPECT_EQ(to_string(value_of(run, field("deterministic"))), "true");
    EXPECT_EQ(to_string(value_of(run, field("test_rmse"))), "");
}

TEST(RunFields, SortByAFigureWithUnknownOnesLastInBothDirections) {
    std::vector<RunSummary> runs = {run_of_settings("1"), run_of_settings("2"),
                                    run_of_settings("3"), run_of_settings("4")};
    runs[0].test = classified(0.5, 0.8);
    runs[2].test = classified(0.5, 0.9);
    runs[3].test = classified(0.5, 0.7);
    EXPECT_THAT(ordered(runs, "test_accuracy"), ElementsAre("4", "1", "3", "2"));
    EXPECT_THAT(ordered(runs, "test_accuracy", true), ElementsAre("3", "1", "4", "2"));
    EXPECT_THAT(ordered(runs, "test_loss", true), ElementsAre("1", "3", "4", "2"))
        << "equal ones stay as they were";
}

TEST(RunFields, SortIdsAsNumbersAndNamesAfterThem) {
    const std::vector<RunSummary> runs = {run_of_settings("10"), run_of_settings("mine"),
                                          run_of_settings("9")};
    EXPECT_THAT(ordered(runs, "run"), ElementsAre("9", "10", "mine"));
}

TEST(RunFields, AnInfiniteLossIsAValueAndAnUnknownOneIsNone) {
    std::vector<RunSummary> runs = {run_of_settings("1"), run_of_settings("2"),
                                    run_of_settings("3")};
    runs[1].test.loss = std::numeric_limits<double>::infinity();
    runs[2].test.loss = 1;
    EXPECT_THAT(ordered(runs, "test_loss"), ElementsAre("3", "2", "1"));
}

TEST(RunDifferences, HoldTheSettingsThatDifferWithTheValueOfEachRun) {
    const std::vector<RunSummary> runs = {run_of_settings("1"),
                                          run_of_settings("2", R"({"optimizer": {"lr": 0.1}})"),
                                          run_of_settings("3", R"({"batch_size": 32})")};
    const auto rows = differing_settings(runs);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].field, "optimizer.lr");
    EXPECT_THAT(rows[0].values, ElementsAre("0.05", "0.1", "0.05"));
    EXPECT_EQ(rows[1].field, "batch_size");
    EXPECT_THAT(differing_settings({runs.data(), 1}), IsEmpty());
    EXPECT_THAT(differing_settings({}), IsEmpty());
}

TEST(RunDifferences, WhatAnotherProgramDoesNotTellDiffersFromNothing) {
    std::vector<RunSummary> runs = {run_of_settings("1", R"({"optimizer": {"lr": 0.1}})"),
                                    run_of_settings("2", R"({"precision": {"preset": "fp32"}})")};
    runs[1].origin = RunOrigin{.program = "PyTorch 2.15.0"};
    const auto rows = differing_settings(runs);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].field, "precision.preset");
}

TEST(RunDifferences, ShowTheResultsThatAnyOfTheRunsHas) {
    std::vector<RunSummary> runs = {run_of_settings("1"), run_of_settings("2")};
    runs[0].steps = 30;
    runs[0].test = classified(0.5, 0.8125);
    const auto rows = compare_results(runs);
    const auto named = [](const char* name) { return Field(&RunDifference::field, name); };
    EXPECT_THAT(rows, Contains(named("steps")));
    EXPECT_THAT(rows, Not(Contains(named("diverged_at"))));
    EXPECT_THAT(rows, Not(Contains(named("notes"))));
    for (const auto& row : rows) {
        if (row.field != "test_accuracy") continue;
        EXPECT_THAT(row.values, ElementsAre("0.8125", ""));
    }
}

RunSummary run_of_network(const std::string& id, const std::vector<std::string>& lines) {
    RunSummary run = run_of_settings(id);
    run.config.model.kind = "file";
    run.config.model.network.all = lines;
    run.config = completed(run.config);
    return run;
}

TEST(RunFields, OptionsOfANetworksTextAreFieldsOfItsRuns) {
    const std::vector<RunSummary> runs = {
        run_of_network("1", {"option width = 8", "option deep = true", "network(image):", "  Flatten"}),
        run_of_network("2", {"option width = small", "network(image):", "  Flatten"})};
    const auto fields = run_fields(runs);
    const RunField* width = find_run_field(fields, "model.options.width");
    ASSERT_NE(width, nullptr);
    EXPECT_EQ(width->kind, RunField::Kind::mixed) << "a number and a word";
    EXPECT_EQ(value_of(runs[0], *width), RunValue(std::int64_t{8}));
    EXPECT_EQ(value_of(runs[1], *width), RunValue(std::string("small")));
    const RunField* deep = find_run_field(fields, "model.options.deep");
    ASSERT_NE(deep, nullptr);
    EXPECT_EQ(deep->kind, RunField::Kind::flag);
    EXPECT_FALSE(is_known(value_of(runs[1], *deep)));
    EXPECT_EQ(find_run_field(run_fields(), "model.options.deep"), nullptr);
    EXPECT_EQ(find_run_field(fields, "model.network"), nullptr);
}

TEST(RunFields, NetworksDifferLineByLine) {
    const std::vector<RunSummary> runs = {
        run_of_network("1", {"network(image):", "  Flatten", "  a: Linear(8)", "  ReLU", "  b: Linear(outputs)"}),
        run_of_network("2", {"network(image):", "  Flatten", "  a: Linear(9)", "  ReLU", "  Dropout(0.5)",
                             "  b: Linear(outputs)"})};
    const auto rows = differing_settings(runs);
    std::vector<std::string> fields;
    for (const auto& row : rows) fields.push_back(row.field);
    EXPECT_THAT(fields, ElementsAre("model.network:3", "model.network:+5"));
    EXPECT_THAT(rows[0].values, ElementsAre("  a: Linear(8)", "  a: Linear(9)"));
    EXPECT_THAT(rows[1].values, ElementsAre("", "  Dropout(0.5)"));
    const std::vector<RunSummary> other = {runs[0], run_of_settings("3")};
    EXPECT_THAT(differing_settings(other), Contains(Field(&RunDifference::field, "model.network")));
    EXPECT_THAT(changed_settings(runs[0]), Not(Contains(Field(&RunDifference::field, "model.sha256"))));
}

}  // namespace
}  // namespace engine
