#include "engine/lab/lesson_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "support/expectations.h"
#include "temp_folder.h"

namespace engine {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

LearnerAnswers answers_of(const std::string& learner, const std::string& end, double stop) {
    LearnerAnswers out{.learner = learner};
    LessonProgress progress{
        .steps_read = 6, .steps = 6, .finished = true, .seed = 2, .when = "2026-11-24T10:00:00"};
    progress.predictions = {{"end", end}, {"stop", stop}, {"draw", std::vector<double>{1, 2, 3}}};
    progress.measured = {
        {"end", LessonValue("early")}, {"stop", LessonValue(1540.0)}, {"draw", std::nullopt}};
    out.lessons["lost-updates"] = progress;
    return out;
}

TEST(LessonAnswers, ComeBackAsTheyWere) {
    const test_support::TempFolder root;
    const fs::path file = root.path() / "deep" / "lab.json";
    auto answers = answers_of("Ada \"A\" 李", "early", 1500);
    answers.lessons["lost-updates"].measured["odd"] =
        LessonValue(std::numeric_limits<double>::infinity());
    write_answers(file, answers);
    const LearnerAnswers read = read_answers(file);
    EXPECT_EQ(read.learner, answers.learner);
    ASSERT_TRUE(read.lessons.contains("lost-updates"));
    const auto& progress = read.lessons.at("lost-updates");
    EXPECT_EQ(progress.predictions, answers.lessons.at("lost-updates").predictions);
    EXPECT_EQ(progress.measured, answers.lessons.at("lost-updates").measured);
    EXPECT_TRUE(progress.finished);
    EXPECT_EQ(progress.seed, 2);
    EXPECT_EQ(progress.when, "2026-11-24T10:00:00");
}

TEST(LessonAnswers, AreEmptyWithoutAFile) {
    EXPECT_TRUE(read_answers("/nonexistent/lab.json").lessons.empty());
}

TEST(LessonAnswers, OtherFilesAreRefused) {
    for (const char* text :
         {"", "[]", "{}", "{\"halftone\": \"lab answers\"}",
          "{\"halftone\": \"lab answers\", \"lessons\": {\"a\": {\"predictions\": {\"x\": 3}}}}"})
        EXPECT_THROW(parse_answers(text), Error) << text;
}

/// Thirty answers: 18 say early, 9 same, 3 nan; stop ranges from 0 to 2,900.
class ClassOfThirty : public testing::Test {
protected:
    void SetUp() override {
        for (int i = 0; i < 30; ++i) {
            const char* end = i < 18 ? "early" : i < 27 ? "same" : "nan";
            char name[32];
            std::snprintf(name, sizeof name, "learner-%02d", i);
            write_answers(root_.path() / (std::string(name) + ".json"),
                          answers_of(name, end, 100.0 * i));
        }
        std::ofstream(root_.path() / "broken.json") << "{\"halftone\"";
        std::ofstream(root_.path() / "notes.txt") << "no answers";
    }
    test_support::TempFolder root_;
};

TEST_F(ClassOfThirty, IsATable) {
    const ClassAnswers answers = collect_answers(root_.path());
    EXPECT_EQ(answers.learners, 30);
    EXPECT_EQ(answers.rows.size(), 90u);
    ASSERT_EQ(answers.unreadable.size(), 1u);
    EXPECT_EQ(answers.unreadable[0].first, "broken.json");
    const std::string table = answers_table(answers);
    EXPECT_THAT(table, HasSubstr("30 learners"));
    EXPECT_THAT(table, HasSubstr("early 18, nan 3, same 9"));
    EXPECT_THAT(table, HasSubstr("0 to 2900, median 1500"));
    EXPECT_THAT(table, HasSubstr("1540"));
    EXPECT_THAT(table, HasSubstr("30 curves"));
    EXPECT_THAT(table, HasSubstr("broken.json"));
}

TEST(ClassAnswersCsv, KeepsASpreadsheetFromComputingATextButLeavesNumbers) {
    ClassAnswers answers;
    const auto add = [&](const std::string& learner, const LessonAnswer& answer) {
        answers.rows.push_back({learner, learner + ".json", "overflow", "end", answer, -0.5});
    };
    add("=cmd|'/c calc'!A1", std::string("@SUM(1)"));
    add("+1", -3.0);
    EXPECT_THAT(
        answers_csv(answers),
        HasSubstr("\n'=cmd|'/c calc'!A1,'=cmd|'/c calc'!A1.json,overflow,end,'@SUM(1),-0.5\n"
                  "'+1,'+1.json,overflow,end,-3,-0.5\n"));
    EXPECT_THAT(answers_csv(answers, true), HasSubstr("\n+1,+1.json,overflow,end,-3,-0.5\n"));
}

TEST_F(ClassOfThirty, IsCsvAndJson) {
    const ClassAnswers answers = collect_answers(root_.path());
    const std::string csv = answers_csv(answers);
    EXPECT_EQ(std::ranges::count(csv, '\n'), 91);
    EXPECT_THAT(csv, HasSubstr("learner-05,learner-05.json,lost-updates,stop,500,1540"));
    EXPECT_EQ(std::ranges::count(answers_json(answers), '\n'), 1);
    const auto json = nlohmann::json::parse(answers_json(answers));
    EXPECT_EQ(json.at("learners"), 30);
    EXPECT_EQ(json.at("answers").size(), 90u);
}

TEST(ClassAnswers, ThatAreDamagedSayWhatIsWrongInWords) {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    for (const std::string& text :
         {std::string("{"), std::string("[]"), std::string("{\"halftone\":1}"), deep,
          "{\"halftone\":\"lab answers\",\"lessons\":" + deep + "}",
          std::string("{\"halftone\":\"lab answers\",\"halftone\":\"lab answers\"}"),
          std::string("{\"halftone\":\"lab answers\",\"lessons\":{\"a\":1}}"),
          std::string("{\"halftone\":\"lab answers\",\"lessons\":{\"a\":{\"steps\":\"x\"}}}")}) {
        const std::string sentence = message_of(ErrorCode::data, [&] { parse_answers(text); });
        EXPECT_THAT(sentence, HasSubstr("This is not an answers file"));
        EXPECT_THAT(sentence, testing::Not(HasSubstr("json.exception")));
    }
}

TEST(ClassAnswers, OfNoFolderAreRefused) { EXPECT_THROW(collect_answers("/nonexistent"), Error); }

TEST(LessonAnswers, AreHandedInUnderTheLearnersName) {
    const test_support::TempFolder root;
    EXPECT_EQ(hand_in_answers(root.path(), answers_of("Ada", "early", 1)).filename(), "Ada.json");
    EXPECT_EQ(hand_in_answers(root.path(), answers_of("Ada", "late", 2)).filename(), "Ada.json");
    std::ofstream(root / "Bo.json") << "not answers";
    EXPECT_EQ(hand_in_answers(root.path(), answers_of("Bo", "late", 2)).filename(), "Bo-2.json");
    EXPECT_EQ(hand_in_answers(root.path(), answers_of("../x", "late", 2)), root / "-.-x.json");
    EXPECT_THROW(hand_in_answers(root.path(), answers_of("", "late", 2)), Error);
    EXPECT_THROW(hand_in_answers(root / "none", answers_of("Ada", "late", 2)), Error);
    const auto all = summarize_answers(collect_answers(root.path()));
    ASSERT_EQ(all.size(), 3u);  // draw, end, stop
    EXPECT_EQ(all[1].prediction, "end");
    EXPECT_EQ(all[1].answers, 3);
    EXPECT_EQ(all[1].predicted, "late 3");
}

}  // namespace
}  // namespace engine
