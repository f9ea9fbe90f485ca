// The lesson that the handbook's page "Write a lesson" prints in full, compared with the file.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/lab/lesson.h"
#include "engine/lab/lesson_results.h"
#include "engine/lab/lesson_runner.h"

namespace engine {
namespace {

std::string printed_lesson(const std::string& page) {
    std::ifstream file(std::string(HALFTONE_HANDBOOK) + "/" + page);
    std::stringstream all;
    all << file.rdbuf();
    const std::string text = all.str(), fence = "````\n";
    const std::size_t begin = text.find(fence);
    const std::size_t end = text.find(fence, begin + fence.size());
    if (end == std::string::npos) return {};
    return text.substr(begin + fence.size(), end - begin - fence.size());
}

Lesson lesson_of(const std::string& page) {
    return parse_lesson(printed_lesson(page), "static-scale");
}

TEST(HandbookLesson, IsTheSameInBothLanguages) {
    const Lesson english = lesson_of("write-a-lesson.md"),
                 chinese = lesson_of("write-a-lesson.zh.md");
    for (const Lesson* lesson : {&english, &chinese}) {
        EXPECT_EQ(lesson->steps.size(), 6u);
        for (const auto& problem : lesson->problems) ADD_FAILURE() << problem.str();
    }
    for (const auto& problem : differences(english, chinese)) ADD_FAILURE() << problem.str();
}

TEST(HandbookLesson, HoldsForFiveSeeds) {
    const Lesson lesson = lesson_of("write-a-lesson.md");
    ASSERT_FALSE(lesson.expectations.empty());
    for (std::int64_t seed = 1; seed <= 5; ++seed) {
        LessonRunner runner(lesson, {.seed = seed, .paced = false});
        runner.run();
        ASSERT_TRUE(runner.wait(300));
        for (const auto& each : expectation_results(lesson, MeasuredRuns(runner)))
            EXPECT_EQ(each.holds, true) << "seed " << seed << ": " << each.text;
    }
}

}  // namespace
}  // namespace engine
