#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lab/lesson.h"
#include "support/lesson_texts.h"

namespace engine {
namespace {

using test_support::small_lesson;
using test_support::with;

/// One mistake: the text that is replaced in a valid lesson, the line that the error must name, and
/// a part of its sentence.
struct Mistake {
    const char* from;
    const char* to;
    int line;
    const char* says;
};

void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.to; }

class BadLesson : public testing::TestWithParam<Mistake> {};

TEST_P(BadLesson, IsToldInOneSentenceWithItsLine) {
    const Mistake& mistake = GetParam();
    const std::string text = with(small_lesson(), mistake.from, mistake.to);
    ASSERT_FALSE(text.starts_with("no such text")) << text;
    const Lesson lesson = parse_lesson(text, "bad");
    ASSERT_FALSE(lesson.problems.empty());
    bool told = false;
    std::string all;
    for (const auto& problem : lesson.problems) {
        all += problem.str() + '\n';
        EXPECT_EQ(problem.str().find('\n'), std::string::npos);
        told = told || (problem.line == mistake.line &&
                        problem.text.str().find(mistake.says) != std::string::npos);
    }
    EXPECT_TRUE(told) << "wanted line " << mistake.line << ": ..." << mistake.says << "...\n"
                      << all;
}

INSTANTIATE_TEST_SUITE_P(
    FrontMatter, BadLesson,
    testing::Values(Mistake{"---\ntitle: Small", "title: Small", 1, "begins with"},
                    Mistake{"title: Small\n", "", 1, "no title"},
                    Mistake{"minutes: 5", "minutes: many", 4, "1 to 600"},
                    Mistake{"minutes: 5", "minutes: 601", 4, "1 to 600"},
                    Mistake{"minutes: 5", "author: me", 4, "“author”"},
                    Mistake{"minutes: 5", "five minutes", 4, "title: ..."},
                    Mistake{"minutes: 5\n---", "minutes: 5\n", 1, "no closing"},
                    Mistake{"## Read\nWhat", "What", 6, "must follow a heading"}));

INSTANTIATE_TEST_SUITE_P(
    Blocks, BadLesson,
    testing::Values(Mistake{"```predict end", "```prodict end", 10, "no block “prodict”"},
                    Mistake{"```plot\n", "```python\n", 30, "no block “python”"},
                    Mistake{"optimizer.lr: 0.01 .. 0.1\n```", "optimizer.lr: 0.01 .. 0.1\n", 53,
                            "no closing"},
                    Mistake{"loss log\nloss_scale high\n", "", 30, "empty"}));

INSTANTIATE_TEST_SUITE_P(
    Predictions, BadLesson,
    testing::Values(Mistake{"```predict end", "```predict", 10, "letters, digits"},
                    Mistake{"```predict end", "```predict 1st", 10, "letters, digits"},
                    Mistake{"```predict stop", "```predict end", 16, "Two predictions"},
                    Mistake{"How will it end?\n", "", 10, "asks nothing"},
                    Mistake{"- worse: worse\n", "", 10, "two choices"},
                    Mistake{"- worse: worse", "- same: worse", 13, "Two choices"},
                    Mistake{"- worse: worse", "- worse", 13, "KEY: text"},
                    Mistake{"range: 0 .. 40", "range: 40 .. 0", 18, "not a range"},
                    Mistake{"range: 0 .. 40", "range: 40", 18, "not a range"},
                    Mistake{"range: 0 .. 40\n", "", 16, "needs choices"},
                    Mistake{"range: 0 .. 40", "range: 0 .. 40\nnumber: steps", 16, "needs choices"},
                    Mistake{"range: 0 .. 40", "curve: los over 0 .. 40", 18, "no column los"},
                    Mistake{"range: 0 .. 40", "curve: loss", 18, "COLUMN over"},
                    Mistake{"note: a note", "within: -1", 19, "above 0"},
                    Mistake{"note: a note", "weather: fine", 19, "no meaning"}));

INSTANTIATE_TEST_SUITE_P(
    Runs, BadLesson,
    testing::Values(Mistake{"dataset.kind=spirals", "dataset.kind=spirale", 26, "cannot start"},
                    Mistake{"max_steps=40", "max_step=40", 26, "max_step"},
                    Mistake{"batch_size=64", "batch_size", 24, "not a setting"},
                    Mistake{"dataset.kind=spirals", "dataset.kind=csv dataset.path=/etc/passwd", 26,
                            "in the lesson's folder"},
                    Mistake{"dataset.kind=spirals", "dataset.kind=csv dataset.path=../x.csv", 26,
                            "in the lesson's folder"},
                    Mistake{"precision.preset=fp32", "precision.preset=fp31", 27, "fp31"},
                    Mistake{"precision.preset=fp32", "model.init_from=../w.safetensors", 27,
                            "in the lesson's folder"},
                    Mistake{"plain \"FP32\"", "high \"FP32\"", 27, "Two runs"},
                    Mistake{"plain \"FP32\"", "2nd \"FP32\"", 27, "the name of a run"},
                    Mistake{"plain \"FP32\"", "result \"FP32\"", 27, "the name of a run"},
                    Mistake{"plain \"FP32\":", "plain \"FP32:", 27, "quotation mark"},
                    Mistake{"plain \"FP32\":", "plain \"FP32\"", 27, "path=value"},
                    Mistake{"pace: 400 steps/s", "pace: fast", 28, "250 steps/s"},
                    Mistake{"pace: 400 steps/s", "pace: -1 steps/s", 28, "250 steps/s"},
                    Mistake{"pace: 400 steps/s", "all: epochs=2", 28, "before the runs"},
                    Mistake{"precision.preset=fp32", "resume: high", 27, "RUN at STEP"},
                    Mistake{"precision.preset=fp32", "resume: nobody at 3", 27, "nobody"},
                    Mistake{"## Check", "```runs\na: seed=1\n```\n## Check", 40,
                            "one block of runs"}));

INSTANTIATE_TEST_SUITE_P(
    PlotsAndInstruments, BadLesson,
    testing::Values(
        Mistake{"loss log", "lose log", 31, "no column lose"},
        Mistake{"loss_scale high", "loss_scale nobody", 32, "No run is called nobody"},
        Mistake{"weight fc1.weight[1,0]: high beside plain", "telescope: high", 35,
                "An instrument is"},
        Mistake{"weight fc1.weight[1,0]:", "weight fc1.weight:", 35, "A weight is written"},
        Mistake{"weight fc1.weight[1,0]:", "weight fc1.weight[1,x]:", 35, "A weight is written"},
        Mistake{"[1,0]: high beside plain", "[1,0]: nobody", 35, "No run is called nobody"},
        Mistake{"[1,0]: high beside plain", "[1,0]: high plain", 35, "names its run"},
        Mistake{"weight fc1.weight[1,0]", "histogram colours", 35, "A histogram is"},
        Mistake{"0.1 in fp16", "0.1 in fp15", 36, "no format fp15"},
        Mistake{"0.1 in fp16", "abc in fp16", 36, "abc"},
        Mistake{"bits tenth: 0.1", "bits: 0.1", 36, "Bits are written"},
        Mistake{"0.001 x 5000", "0.001 x 1e9", 37, "1,000,000"},
        Mistake{"0.001 x 5000 in fp16", "0.001 in fp16", 37, "A sum is written"}));

INSTANTIATE_TEST_SUITE_P(
    Checks, BadLesson,
    testing::Values(
        Mistake{"first(high.found_inf)", "first(high.found)", 42, "no column found"},
        Mistake{"first(high.found_inf)", "first(nobody.loss)", 42, "no run is called nobody"},
        Mistake{"first(high.found_inf)", "first(high.found_inf", 42, "“)” is missing"},
        Mistake{"first(high.found_inf)", "median(high.loss)", 42, "no function median"},
        Mistake{"first(high.found_inf)", "high.loss", 42, "one value"},
        Mistake{"first(high.found_inf)", "", 42, "missing"},
        Mistake{"first(high.found_inf)", "first(high.loss) 3", 42, "too many"},
        Mistake{"first(high.found_inf)", "system(\"rm\")", 42, "no function system"},
        Mistake{"first(high.found_inf)", "first(3)", 42, "takes a column"},
        Mistake{"first(high.found_inf)", "first(high.loss > same)", 42, "compared with a word"},
        Mistake{"first(high.found_inf)", "high.result.luck", 42, "no result luck"},
        Mistake{"first(high.found_inf)", "xray(high).output", 42, "“,” is missing"},
        Mistake{"first(high.found_inf)", "1 $ 2", 42, "no “$”"},
        Mistake{"stop = first", "high = first", 42, "name of a run"},
        Mistake{"stop = first(high.found_inf)", "stop: first(high.found_inf)", 42,
                "A check is written"},
        Mistake{"stop = first(high.found_inf)\n", "", 16, "Nothing checks"},
        Mistake{"end = same:", "end = better:", 44, "no choice better"},
        Mistake{"end = same: high.result.skipped == plain.result.skipped", "end = 3", 44,
                "checked twice"},
        Mistake{"lost = tenth.error", "lost = tenth.colour", 45, "no result colour"},
        Mistake{"expect: end == worse and", "expect: high.loss < 3 and", 46, "one value"},
        Mistake{"expect: end == worse", "expect: end == wrose", 46, "wrose"}));

INSTANTIATE_TEST_SUITE_P(
    Knobs, BadLesson,
    testing::Values(Mistake{"scaler.init_scale: 65536", "scaler.initial: 65536", 54,
                            "no setting scaler.initial"},
                    Mistake{"optimizer.lr: 0.01 .. 0.1", "optimizer.lr: slow", 55, "cannot be set"},
                    Mistake{"optimizer.lr: 0.01 .. 0.1", "optimizer.lr: 0.1 .. 0.01", 55,
                            "not a range"},
                    Mistake{"optimizer.lr: 0.01 .. 0.1", "optimizer.lr:", 55, "no values"},
                    Mistake{"optimizer.lr: 0.01 .. 0.1", "faster", 55, "A knob is written"}));

TEST(BadLessons, AFileThatIsNoTextIsRefused) {
    const Lesson lesson = parse_lesson(std::string("---\ntitle: a\n---\n\0\0", 20), "bad");
    ASSERT_EQ(lesson.problems.size(), 1u);
    EXPECT_EQ(lesson.problems[0].text.str(), "The file is not a text.");
}

TEST(BadLessons, OneBadBlockLeavesTheOthers) {
    const Lesson lesson = parse_lesson(with(small_lesson(), "loss log", "lose log"), "bad");
    EXPECT_EQ(lesson.problems.size(), 1u);
    EXPECT_EQ(lesson.runs.size(), 2u);
    EXPECT_EQ(lesson.checks.size(), 3u);
    EXPECT_TRUE(std::holds_alternative<LessonProblem>(lesson.steps[2].parts[1]));
}

}  // namespace
}  // namespace engine
