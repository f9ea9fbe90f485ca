#include "record/event_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/part_figures.h"

namespace engine {
namespace {

using nlohmann::json;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double inf_value = std::numeric_limits<double>::infinity();

std::vector<Event> one_of_each() {
    RunConfig config;
    config.optimizer.options["lr"] = 0.125;
    return {
        RunStarted{"12", config, "cpu", 2, 44426, 60000, 10000, 938, "/runs/12"},
        StateChanged{"12", RunState::evaluating},
        EpochDone{"12", 1, 469, classified(0.61, 0.79), {}, classified(0.48, 0.83), 9.4},
        ScaleChanged{"12", 412, ScaleChanged::Kind::skipped_normal, 65536.f, 32768.f, 411},
        RunWarning{"12", msg("step {}: {} looks odd", 7, "the \"loss\"\n"), 7},
        RunWarning{"12", msg("plain"), 0},
        RunFailed{"12", ErrorCode::training, msg("the scale fell below {}", 1),
                  msg("Lower the rate.")},
        RunDone{"12", DoneReason::max_steps, 940, 938, 2, classified(0.48, 0.83), 19.1, 6283.5,
                123456789},
    };
}

TEST(EventJson, EveryEventReadsBackAsItWas) {
    for (const auto& event : one_of_each()) {
        const std::string line = to_json_line(event);
        EXPECT_EQ(line.find('\n'), std::string::npos);
        EXPECT_EQ(json::parse(line).at("run"), "12");
        const auto read = parse_event(line);
        ASSERT_TRUE(read.has_value()) << line;
        EXPECT_EQ(read->index(), event.index());
        EXPECT_EQ(to_json_line(*read), line);
    }
}

TEST(EventJson, TheLossOfASkipAndTheStepOfADivergenceAreWrittenWhereThereAreAny) {
    ScaleChanged skip{"12", 23, ScaleChanged::Kind::skipped_persistent, 2.f, 1.f, 0};
    RunDone done{"12", DoneReason::epochs, 40, 22, 18, classified(nan_value, 0.05), 1, 1, 1};
    EXPECT_FALSE(json::parse(to_json_line(skip)).contains("loss"));
    EXPECT_FALSE(json::parse(to_json_line(done)).contains("diverged_at"));
    EXPECT_EQ(std::get<ScaleChanged>(*parse_event(to_json_line(skip))).loss, std::nullopt);
    for (const double loss : {nan_value, inf_value, -inf_value}) {
        skip.loss = static_cast<float>(loss);
        const auto read = std::get<ScaleChanged>(*parse_event(to_json_line(skip))).loss;
        ASSERT_TRUE(read.has_value());
        EXPECT_EQ(std::isnan(*read), std::isnan(loss));
        if (!std::isnan(loss)) {
            EXPECT_EQ(static_cast<double>(*read), loss);
        }
    }
    done.diverged_at = 23;
    EXPECT_EQ(std::get<RunDone>(*parse_event(to_json_line(done))).diverged_at, 23);
    EXPECT_FALSE(json::parse(to_json_line(done)).contains("replaced_samples"));
    done.replaced_samples = 6;
    EXPECT_EQ(std::get<RunDone>(*parse_event(to_json_line(done))).replaced_samples, 6);
}

TEST(EventJson, TheNamesAreThoseOfTheContract) {
    const auto events = one_of_each();
    const json start = json::parse(to_json_line(events[0]));
    EXPECT_EQ(start.at("event"), "start");
    EXPECT_EQ(start.at("config").at("optimizer").at("lr"), 0.125);
    for (const char* field : {"device", "parameters", "train_samples", "test_samples"}) {
        EXPECT_TRUE(start.contains(field)) << field;
    }
    const json done = json::parse(to_json_line(events.back()));
    EXPECT_EQ(done.at("event"), "done");
    EXPECT_EQ(done.at("reason"), "max_steps");
    for (const char* field : {"updates", "skipped", "test_loss", "test_accuracy", "wall_s",
                              "samples_per_s", "peak_bytes"}) {
        EXPECT_TRUE(done.contains(field)) << field;
    }
    RunDone failed;
    failed.reason = DoneReason::failed;
    failed.test = unknown_figures(classification_metrics());
    const json failed_done = json::parse(to_json_line(failed));
    for (const auto& [field, value] : done.items()) EXPECT_TRUE(failed_done.contains(field));
    const json error = json::parse(to_json_line(events[6]));
    EXPECT_EQ(error.at("code"), "training");
    EXPECT_EQ(error.at("message"), "the scale fell below 1");
    EXPECT_EQ(error.at("hint"), "Lower the rate.");
}

TEST(EventJson, AWarningKeepsItsPartsForOtherLanguages) {
    const auto read = parse_event(to_json_line(one_of_each()[4]));
    const auto& warning = std::get<RunWarning>(*read);
    EXPECT_EQ(warning.message.text, "step {}: {} looks odd");
    EXPECT_EQ(warning.message.args.size(), 2u);
    EXPECT_EQ(warning.step, 7);
}

TEST(EventJson, WhatWasNotMeasuredIsLeftOut) {
    const json epoch = json::parse(to_json_line(
        EpochDone{"1", 1, 1, classified(0.5, nan_value), {}, classified(nan_value, nan_value), 1}));
    EXPECT_FALSE(epoch.contains("train_accuracy"));
    EXPECT_FALSE(epoch.contains("test_loss"));
    EXPECT_FALSE(epoch.contains("test_accuracy"));
    const auto read = parse_event(epoch.dump());
    EXPECT_TRUE(std::isnan(std::get<EpochDone>(*read).test.loss));
}

TEST(EventJson, AnEpochThatWasNotEvaluatedSaysSo) {
    EpochDone epoch{"1", 1, 1, classified(0.5, 0.5), {}, classified(nan_value, nan_value), 1};
    const json made = json::parse(to_json_line(epoch));
    EXPECT_FALSE(made.contains("evaluated")) << "as runs of earlier versions";
    EXPECT_TRUE(std::get<EpochDone>(*parse_event(made.dump())).evaluated) << "its figures are NaN";
    epoch.evaluated = false;
    EXPECT_FALSE(std::get<EpochDone>(*parse_event(to_json_line(epoch))).evaluated);
}

TEST(EventJson, AStartTellsTheTaskItsMetricsAndTheUnitOfASample) {
    RunStarted started{"12", {}, "cpu", 2, 44426, 600, 100, 938, "/runs/12"};
    EXPECT_FALSE(json::parse(to_json_line(started)).contains("validation_samples"));
    started.validation_samples = 50;
    started.task = "regression";
    started.unit = "rows";
    started.metrics = {{.key = "rmse", .title = "RMSE", .unit = "price", .higher_is_better = false},
                       {.key = "r2", .title = "R²"}};
    started.step_metrics = started.metrics;
    started.step_metrics.push_back({.key = "updates_second", .title = "Updates: second"});
    started.turns = "together";
    started.first_step = 31;
    started.steps_per_epoch = 12;
    const auto read = std::get<RunStarted>(*parse_event(to_json_line(started)));
    EXPECT_EQ(read.validation_samples, 50);
    EXPECT_EQ(read.task, "regression");
    EXPECT_EQ(read.unit, "rows");
    EXPECT_EQ(read.metrics, started.metrics);
    EXPECT_EQ(read.step_metrics, started.step_metrics);
    EXPECT_EQ(read.turns, "together");
    EXPECT_EQ(read.first_step, 31);
    EXPECT_EQ(read.steps_per_epoch, 12);
}

TEST(EventJson, EachPartIsWrittenUnderItsName) {
    const PartFigures train{0.5, {{"rmse", 3}, {"r2", 0.75}}},
        validation{0.625, {{"rmse", 4}, {"r2", nan_value}}}, test{inf_value, {{"rmse", inf_value}}};
    const json epoch = json::parse(to_json_line(EpochDone{"1", 1, 1, train, validation, test, 1}));
    EXPECT_EQ(epoch.at("train_rmse"), 3);
    EXPECT_EQ(epoch.at("train_r2"), 0.75);
    EXPECT_EQ(epoch.at("validation_loss"), 0.625);
    EXPECT_EQ(epoch.at("validation_rmse"), 4);
    EXPECT_FALSE(epoch.contains("validation_r2")) << "not known";
    EXPECT_EQ(epoch.at("test_rmse"), "inf");
    const auto read = std::get<EpochDone>(*parse_event(epoch.dump()));
    EXPECT_EQ(read.validation.loss, 0.625);
    EXPECT_EQ(read.validation.of("rmse"), 4);
    EXPECT_EQ(read.test.of("rmse"), inf_value);
    RunDone done{"1", DoneReason::epochs, 1, 1, 0, test, 1, 1, 1};
    EXPECT_FALSE(json::parse(to_json_line(done)).contains("validation_loss"));
    done.validation = validation;
    EXPECT_EQ(std::get<RunDone>(*parse_event(to_json_line(done))).validation.of("rmse"), 4);
}

TEST(EventJson, ALossThatDivergedIsWrittenAsAWord) {
    const json epoch = json::parse(to_json_line(
        EpochDone{"1", 1, 1, classified(inf_value, 0.1), {}, classified(nan_value, 0.1), 1}));
    EXPECT_EQ(epoch.at("train_loss"), "inf");
    EXPECT_EQ(epoch.at("test_loss"), "nan");
    EXPECT_EQ(std::get<EpochDone>(*parse_event(epoch.dump())).train.loss, inf_value);
}

StepRecord a_step() {
    StepRecord step{};
    for_each_field([&step](const char*, auto member) {
        using T = std::remove_reference_t<decltype(step.*member)>;
        step.*member = static_cast<T>(3);
    });
    return step;
}

TEST(EventJson, AStepCarriesEveryFieldOfTheRecord) {
    StepRecord step = a_step();
    step.lr = 0.05f;
    step.found_inf = 0;
    const json line = json::parse(to_json_line("r \"1\"", step, classification_metrics()));
    EXPECT_EQ(line.at("event"), "step");
    EXPECT_EQ(line.at("run"), "r \"1\"");
    EXPECT_EQ(line.at("lr"), 0.05);  // the shortest digits, not those of the float as a double
    EXPECT_EQ(line.at("found_inf"), false);
    for_each_named_field(classification_metrics(), [&line](std::string_view name, auto) {
        EXPECT_TRUE(line.contains(name)) << name;
    });
}

TEST(EventJson, AStepNamesItsNonFiniteNumbersAndLeavesOutTheUnmeasured) {
    StepRecord step = a_step();
    step.loss = static_cast<float>(nan_value);
    step.grad_norm = -static_cast<float>(inf_value);
    step.accuracy = static_cast<float>(nan_value);
    step.grad_max = static_cast<float>(inf_value);
    const json line = json::parse(to_json_line("1", step, classification_metrics()));
    EXPECT_EQ(line.at("loss"), "nan");
    EXPECT_EQ(line.at("grad_norm"), "-inf");
    EXPECT_EQ(line.at("grad_max"), "inf");
    EXPECT_FALSE(line.contains("accuracy"));
}

TEST(EventJson, DamagedLinesAreNoEvents) {
    for (const char* line :
         {"", "{", "[]", "3", "{}", R"({"event":"state"})", R"({"event":3,"run":"1"})",
          R"({"event":"state","run":"1","state":"asleep"})",
          R"({"event":"epoch","run":"1","epoch":"one"})",
          R"({"event":"start","run":1,"config":{}})", R"({"event":"unheard","run":"1"})",
          "\xff\xff"}) {
        EXPECT_FALSE(parse_event(line).has_value()) << line;
    }
    const std::string whole = to_json_line(one_of_each()[0]);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(parse_event(whole.substr(0, size)).has_value());
    }
}

TEST(EventJson, EveryStateAndReasonHasAName) {
    for (int i = 0; i <= static_cast<int>(RunState::failed); ++i) {
        EXPECT_STRNE(name(static_cast<RunState>(i)), "unknown");
    }
    for (int i = 0; i <= static_cast<int>(DoneReason::failed); ++i) {
        EXPECT_STRNE(name(static_cast<DoneReason>(i)), "unknown");
    }
}

TEST(EventJson, AnOriginIsReadBackAndItsTextsAreCut) {
    RunStarted event{};
    event.run = "1";
    event.config.precision.preset = "amp-bf16";
    event.origin = RunOrigin{.program = "PyTorch 2.15.0",
                             .model = "ResNet",
                             .dataset = "CIFAR-10",
                             .optimizer = "SGD",
                             .epochs = 90,
                             .shares_every = 10,
                             .settings = {{"lr", "0.1"}, {"note", "two words"}}};
    const std::string line = to_json_line(event);
    const auto read = parse_event(line);
    ASSERT_TRUE(read);
    EXPECT_EQ(std::get<RunStarted>(*read).origin, event.origin);
    EXPECT_FALSE(std::get<RunStarted>(*parse_event(to_json_line(RunStarted{}))).origin);
    const json config = json::parse(line).at("config");
    EXPECT_EQ(config.size(), 1U) << "a model and a data set of ours would be invented: " << config;
    EXPECT_EQ(config.at("precision").at("preset"), "amp-bf16");

    json longer = json::parse(line);
    longer["origin"]["program"] = std::string(399, 'x') + "\u00e9\u00e9";  // two bytes each
    longer["origin"]["model"] = "two\nlines";
    longer["origin"]["settings"] = {{"layers", {1, 2}}, {"bias", true}};
    const auto cut = std::get<RunStarted>(*parse_event(longer.dump())).origin;
    EXPECT_EQ(cut->program, std::string(399, 'x'));
    EXPECT_EQ(cut->model, "two lines");
    EXPECT_EQ(cut->settings, (decltype(cut->settings){{"bias", "true"}, {"layers", "[1,2]"}}));
}

}  // namespace
}  // namespace engine
