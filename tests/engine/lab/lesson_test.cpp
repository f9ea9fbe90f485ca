#include "engine/lab/lesson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/lesson_texts.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test_support::small_lesson;
using test_support::with;
using testing::ElementsAre;
using testing::HasSubstr;

std::string problems_of(const Lesson& lesson) {
    std::string out;
    for (const auto& problem : lesson.problems) out += problem.str() + '\n';
    return out;
}

TEST(Lesson, IsReadWhole) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    ASSERT_EQ(problems_of(lesson), "");
    EXPECT_EQ(lesson.title, "Small");
    EXPECT_EQ(lesson.chapter, "Tests");
    EXPECT_EQ(lesson.minutes, 5);
    ASSERT_EQ(lesson.steps.size(), 6u);
    EXPECT_EQ(lesson.steps[1].title, "Predict");
    ASSERT_EQ(lesson.predictions.size(), 2u);
    EXPECT_EQ(lesson.predictions[0].question, "How will it end?");
    ASSERT_EQ(lesson.predictions[0].choices.size(), 2u);
    EXPECT_EQ(lesson.predictions[0].choices[1].text, "worse");
    EXPECT_EQ(lesson.predictions[0].hint, "Look at the scale.");
    EXPECT_EQ(lesson.predictions[1].kind, Prediction::Kind::range);
    EXPECT_EQ(lesson.predictions[1].high, 40);
    EXPECT_EQ(lesson.predictions[1].note, "a note");
    ASSERT_EQ(lesson.runs.size(), 2u);
    EXPECT_EQ(lesson.runs[0].label, "Scale 2^24");
    EXPECT_EQ(lesson.runs[0].settings.back(), "scaler.init_scale=16777216");
    EXPECT_EQ(lesson.pace, 400);
    ASSERT_EQ(lesson.plots.size(), 2u);
    EXPECT_TRUE(lesson.plots[0].logarithmic);
    EXPECT_THAT(lesson.plots[1].runs, ElementsAre("high"));
    ASSERT_EQ(lesson.instruments.size(), 3u);
    EXPECT_EQ(lesson.instruments[0].parameter, "fc1.weight");
    EXPECT_THAT(lesson.instruments[0].index, ElementsAre(1, 0));
    EXPECT_THAT(lesson.instruments[0].runs, ElementsAre("high", "plain"));
    EXPECT_EQ(lesson.instruments[2].number->count, 5000);
    ASSERT_EQ(lesson.checks.size(), 3u);
    EXPECT_EQ(lesson.checks[1].cases.size(), 2u);
    EXPECT_EQ(lesson.expectations.size(), 1u);
    ASSERT_EQ(lesson.knobs.size(), 2u);
    EXPECT_EQ(lesson.knobs[0].note, "lower");
    EXPECT_EQ(lesson.knobs[1].high, 0.1);
}

TEST(Lesson, StepsKeepTheirPartsInOrder) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    const auto& parts = lesson.steps[2].parts;
    ASSERT_EQ(parts.size(), 3u);
    EXPECT_TRUE(std::holds_alternative<LessonRuns>(parts[0]));
    EXPECT_TRUE(std::holds_alternative<std::vector<LessonPlot>>(parts[1]));
    EXPECT_TRUE(std::holds_alternative<std::vector<LessonInstrument>>(parts[2]));
}

TEST(Lesson, SettingsHaveSeedAndKnobsOnTop) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    const auto parsed = lesson_settings(lesson, lesson.runs[0], 7, {"scaler.init_scale=1024"});
    EXPECT_TRUE(parsed.errors.empty());
    EXPECT_EQ(parsed.config.seed, 7);
    EXPECT_EQ(parsed.config.scaler.init_scale, 1024);
    EXPECT_EQ(parsed.config.batch_size, 64);
    EXPECT_FALSE(parsed.config.checkpoint.at_end);
}

TEST(Lesson, AKnobChangesTheRunsThatSetIt) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    EXPECT_TRUE(knob_applies(lesson, lesson.runs[0], "scaler.init_scale"));
    EXPECT_FALSE(knob_applies(lesson, lesson.runs[1], "scaler.init_scale"));
    EXPECT_TRUE(knob_applies(lesson, lesson.runs[1], "batch_size")) << "set for all";
    EXPECT_TRUE(knob_applies(lesson, lesson.runs[1], "optimizer.lr")) << "set by none";
    const auto scale = [&](std::size_t run) {
        return lesson_settings(lesson, lesson.runs[run], 1, {"scaler.init_scale=8"})
            .config.scaler.init_scale;
    };
    EXPECT_EQ(scale(0), 8);
    EXPECT_NE(scale(1), 8);
}

TEST(Lesson, OtherPredictions) {
    const std::string text =
        with(with(small_lesson(), "range: 0 .. 40", "number: steps\nwithin: 3"),
             "How will it end?\n- same: the same\n- worse: worse",
             "Draw the loss.\ncurve: loss over 0 .. 40");
    const Lesson lesson = parse_lesson(
        with(with(with(text, "end = worse: high.result.skipped > plain.result.skipped\n", ""),
                  "end = same: high.result.skipped == plain.result.skipped", "end = high.loss"),
             "expect: end == worse and ", "expect: "),
        "small");
    ASSERT_EQ(problems_of(lesson), "");
    EXPECT_EQ(lesson.predictions[0].kind, Prediction::Kind::curve);
    EXPECT_EQ(lesson.predictions[0].column, "loss");
    EXPECT_EQ(lesson.predictions[1].unit, "steps");
    EXPECT_EQ(lesson.predictions[1].within, 3);
}

TEST(Lesson, ACurveMayNameItsHeights) {
    const auto drawn = [](const std::string& curve) {
        const Lesson lesson =
            parse_lesson(with(with(small_lesson(), "range: 0 .. 40", curve),
                              "stop = first(high.found_inf)", "stop = high.loss_scale"),
                         "small");
        return problems_of(lesson).empty()
                   ? std::pair(lesson.predictions[1].bottom, lesson.predictions[1].top)
                   : std::pair(-1.0, -1.0);
    };
    EXPECT_EQ(drawn("curve: loss_scale over 1 .. 40 between 16 .. 65536"),
              std::pair(16.0, 65536.0));
    EXPECT_EQ(drawn("curve: loss_scale over 1 .. 40"), std::pair(0.0, 0.0));
    EXPECT_EQ(drawn("curve: loss_scale over 1 .. 40 between 16"), std::pair(-1.0, -1.0));
}

TEST(Lesson, ACheckMayHaveALabel) {
    const Lesson lesson = parse_lesson(
        with(small_lesson(), "lost = tenth.error", "lost \"error of 0.1 = ε\" = tenth.error"),
        "small");
    ASSERT_EQ(problems_of(lesson), "");
    EXPECT_EQ(lesson.checks[2].id, "lost");
    EXPECT_EQ(lesson.checks[2].label, "error of 0.1 = ε");
    EXPECT_EQ(lesson.checks[0].label, "");
    const Lesson open = parse_lesson(
        with(small_lesson(), "lost = tenth.error", "lost \"error = tenth.error"), "small");
    EXPECT_THAT(problems_of(open), HasSubstr("no closing quotation mark"));
}

TEST(Lesson, RunsGoOnFromOthers) {
    const Lesson lesson =
        parse_lesson(with(small_lesson(), "plain \"FP32\": precision.preset=fp32",
                          "plain: resume: high at 20 teach.resume_without_scaler=true"),
                     "small");
    ASSERT_EQ(problems_of(lesson), "");
    ASSERT_TRUE(lesson.runs[1].resume);
    EXPECT_EQ(lesson.runs[1].resume->run, "high");
    EXPECT_EQ(lesson.runs[1].resume->step, 20);
    EXPECT_EQ(lesson.runs[1].label, "plain");
}

TEST(Lesson, FilesStayInTheLessonsFolder) {
    const test_support::TempFolder root;
    const auto folder = root.path() / "lessons";
    std::filesystem::create_directories(folder);
    std::ofstream(root.path() / "secret.csv") << "a,b\n1,2\n";
    std::ofstream(folder / "own.csv") << "a,b\n1,2\n";
    std::filesystem::create_symlink(root.path() / "secret.csv", folder / "link.csv");
    const auto with_path = [&](const std::string& path) {
        return parse_lesson(
            with(small_lesson(), "dataset.kind=spirals", "dataset.kind=csv dataset.path=" + path),
            "small", folder);
    };
    for (const char* path : {"../secret.csv", "/etc/passwd", "link.csv", "a/../../secret.csv"}) {
        const Lesson lesson = with_path(path);
        ASSERT_FALSE(lesson.problems.empty()) << path;
        EXPECT_THAT(lesson.problems[0].str(), HasSubstr("in the lesson's folder")) << path;
    }
    const Lesson own = with_path("own.csv");
    EXPECT_THAT(problems_of(own), testing::Not(HasSubstr("in the lesson's folder")));
}

/// The small lesson, whose runs train this text.
std::string own_lesson(const std::string& network) {
    const std::string trained = with(with(small_lesson(), "What is *seen*.", "```network\n" + network + "```"),
                                     "model.kind=mlp model.options.hidden=[8,8]", "model.options.width=4");
    return with(trained, "optimizer.lr: 0.01 .. 0.1", "model.options.width: 4, 8");
}

constexpr const char* own_network =
    "option width = 8 in 1..64\nnetwork(features):\n  fc1: Linear(width)\n  Linear(outputs)\n";

TEST(Lesson, RunsTrainTheNetworkOfTheLesson) {
    const Lesson lesson = parse_lesson(own_lesson(own_network), "own");
    ASSERT_EQ(problems_of(lesson), "");
    ASSERT_EQ(lesson.network.size(), 4u);
    const auto parsed = lesson_settings(lesson, lesson.runs[0], 1, {"model.options.width=16"});
    ASSERT_TRUE(parsed.errors.empty());
    EXPECT_EQ(parsed.config.model.network.all, lesson.network);
    EXPECT_EQ(std::get<std::int64_t>(parsed.config.model.options.at("width")), 16);
    const auto* shown = std::get_if<LessonMarkdown>(&lesson.steps[0].parts[0]);
    ASSERT_NE(shown, nullptr);
    EXPECT_THAT(shown->text, HasSubstr("```\noption width"));
    const Lesson other = parse_lesson(own_lesson(with(own_network, "..64", "..32")), "own");
    EXPECT_EQ(differences(lesson, other).size(), 1u);
}

TEST(Lesson, AFaultyNetworkIsRefusedWhenItIsRead) {
    for (const auto& [text, fault] : {std::pair("network(features):\n  Linear(3\n", "model.network"), {"network(features):\n  fc1: Linear(3)\n", "line 2 of the network"}}) {
        const Lesson lesson = parse_lesson(with(own_lesson(text), "model.options.width=4", "batch_size=8"), "own");
        EXPECT_THAT(problems_of(lesson), testing::AllOf(HasSubstr("cannot start"), HasSubstr(fault))) << text;
    }
}

TEST(Lesson, ANetworkInAFileIsRefused) {
    const Lesson file = parse_lesson(with(small_lesson(), "model.kind=mlp model.options.hidden=[8,8]",
                                          "model.path=/etc/passwd"), "file");
    EXPECT_THAT(problems_of(file), HasSubstr("block “network”"));
    EXPECT_THAT(problems_of(file), testing::Not(HasSubstr("passwd")));
}

TEST(Lesson, ATranslationHasTheSameRunsChecksAndKnobs) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    const auto differ = [&](const std::string& from, const std::string& to) {
        return differences(lesson, parse_lesson(with(small_lesson(), from, to), "small"));
    };
    EXPECT_TRUE(differ("What is *seen*.", "看。").empty());
    EXPECT_TRUE(differ("- same: the same", "- same: 一样").empty());
    EXPECT_TRUE(differ("\"FP32\"", "\"单精度\"").empty());
    EXPECT_EQ(differ("init_scale=16777216\n", "init_scale=65536\n").size(), 1u);
    EXPECT_TRUE(differ("lost = tenth.error", "lost \"误差\" = tenth.error").empty());
    EXPECT_EQ(differ("stop = first(high.found_inf)", "stop = first(high.loss > 1)").size(), 1u);
    EXPECT_EQ(differ("0.01 .. 0.1", "0.01 .. 0.2").size(), 1u);
    EXPECT_EQ(differ("pace: 400 steps/s", "pace: 40 steps/s").size(), 1u);
}

TEST(Lesson, OfTenMegabytesIsRefused) {
    const Lesson lesson = parse_lesson(std::string(10'000'000, 'a'), "large");
    ASSERT_EQ(lesson.problems.size(), 1u);
    EXPECT_THAT(lesson.problems[0].str(), HasSubstr("10000000 bytes"));
}

}  // namespace
}  // namespace engine
