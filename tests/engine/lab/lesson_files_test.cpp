#include "engine/lab/lesson_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/base/error.h"
#include "io/zip/zip.h"
#include "support/lesson_texts.h"
#include "temp_folder.h"

namespace engine {
namespace {
namespace fs = std::filesystem;
using test_support::small_lesson;
using test_support::with;

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

std::string error_text(const fs::path& path) {
    try {
        read_lessons(path);
    } catch (const Error& error) {
        return error.message().str();
    }
    return "accepted";
}

TEST(LessonFiles, AFolderHoldsLessonsInTwoLanguages) {
    const test_support::TempFolder root;
    write(root.path() / "one.lesson.md", small_lesson());
    write(root.path() / "one.zh.lesson.md", with(small_lesson(), "title: Small", "title: 小"));
    write(root.path() / "two.lesson.md", small_lesson());
    write(root.path() / "notes.md", "no lesson");
    EXPECT_TRUE(is_lesson_path(root.path()));
    const LessonLibrary library = read_lessons(root.path());
    ASSERT_EQ(library.lessons.size(), 2u);
    EXPECT_EQ(library.lessons[0].name, "one");
    EXPECT_EQ(library.lessons[0].in("zh").title, "小");
    EXPECT_EQ(library.lessons[0].in("en").title, "Small");
    EXPECT_EQ(library.lessons[1].in("zh").title, "Small") << "there is no other";
    EXPECT_TRUE(library.lessons[0].in("zh").problems.empty());
    EXPECT_EQ(library.find("two")->in("en").folder, root.path());
}

TEST(LessonFiles, ATranslationWithOtherRunsSaysSo) {
    const test_support::TempFolder root;
    write(root.path() / "one.lesson.md", small_lesson());
    write(root.path() / "one.zh.lesson.md", with(small_lesson(), "max_steps=40", "max_steps=41"));
    const LessonLibrary library = read_lessons(root.path() / "one.lesson.md");
    ASSERT_EQ(library.lessons.size(), 1u);
    EXPECT_TRUE(library.lessons[0].in("en").problems.empty());
    ASSERT_FALSE(library.lessons[0].in("zh").problems.empty());
    EXPECT_EQ(library.lessons[0].in("zh").problems[0].line, 26);
}

TEST(LessonFiles, AnArchiveHoldsLessonsWithoutAFolder) {
    const test_support::TempFolder root;
    const fs::path zip = root.path() / "course.zip";
    {
        ZipWriter writer(zip);
        writer.add_text("course/one.lesson.md", small_lesson());
        writer.add_text("../../escape.lesson.md", small_lesson());
        writer.add_text("course/readme.txt", "x");
        writer.commit();
    }
    EXPECT_TRUE(is_lesson_path(zip));
    const LessonLibrary library = read_lessons(zip);
    ASSERT_EQ(library.lessons.size(), 2u);
    for (const auto& files : library.lessons) EXPECT_TRUE(files.in("en").folder.empty());
    EXPECT_FALSE(fs::exists(root.path().parent_path() / "escape.lesson.md"));
}

TEST(LessonFiles, AnArchiveWithALargeLessonIsRefused) {
    const test_support::TempFolder root;
    const fs::path zip = root.path() / "bomb.zip";
    {
        ZipWriter writer(zip);
        writer.add_text("one.lesson.md", std::string(20'000'000, 'a'));
        writer.commit();
    }
    EXPECT_NE(error_text(zip).find("too large"), std::string::npos);
}

TEST(LessonFiles, WhatIsNoLessonIsRefusedInASentence) {
    const test_support::TempFolder root;
    write(root.path() / "notes.md", "x");
    EXPECT_NE(error_text(root.path()).find("contains no lesson"), std::string::npos);
    EXPECT_NE(error_text(root.path() / "notes.md").find(".lesson.md"), std::string::npos);
    EXPECT_NE(error_text(root.path() / "absent.lesson.md").find("does not exist"),
              std::string::npos);
    EXPECT_FALSE(is_lesson_path(root.path() / "notes.md"));
}

TEST(LessonFiles, AChangeIsNoticedOnce) {
    const test_support::TempFolder root;
    const fs::path file = root.path() / "one.lesson.md";
    write(file, small_lesson());
    LessonFileWatch watch(file);
    EXPECT_FALSE(watch.changed());
    write(file, small_lesson() + "\nMore.\n");
    EXPECT_TRUE(watch.changed());
    EXPECT_FALSE(watch.changed());
    fs::remove(file);
    EXPECT_FALSE(watch.changed()) << "an editor may be replacing it";
}

TEST(LessonFiles, TheBuiltInLessonsHaveNoProblem) {
    for (const auto& files : builtin_lessons().lessons) {
        EXPECT_EQ(files.languages.size(), 2u) << files.name;
        for (const auto& lesson : files.languages)
            for (const auto& problem : lesson.problems)
                ADD_FAILURE() << files.name << ' ' << lesson.language << ' ' << problem.str();
    }
}

TEST(LessonFiles, TheCourseHasTwentyLessonsChapterByChapter) {
    const auto& lessons = builtin_lessons().lessons;
    EXPECT_EQ(lessons.size(), 20u);
    for (const char* language : {"en", "zh"}) {
        std::vector<std::string> chapters;
        for (const auto& files : lessons) {
            const Lesson& lesson = files.in(language);
            EXPECT_EQ(lesson.language, language) << files.name;
            EXPECT_FALSE(lesson.expectations.empty()) << files.name;
            EXPECT_GE(lesson.runs.size(), 2u) << files.name << " shows a broken run beside one";
            EXPECT_GT(lesson.minutes, 0) << files.name;
            if (chapters.empty() || chapters.back() != lesson.chapter)
                chapters.push_back(lesson.chapter);
        }
        EXPECT_EQ(chapters.size(), 5u) << "a chapter stands in one piece";
        std::sort(chapters.begin(), chapters.end());
        EXPECT_EQ(std::adjacent_find(chapters.begin(), chapters.end()), chapters.end());
    }
}

TEST(LessonDraft, IsALesson) {
    const auto parsed = parse_run_config(
        "{}", {"dataset.kind=spirals", "model.kind=mlp", "model.options.hidden=[8,8]",
               "optimizer.lr=0.02", "seed=3", "precision.preset=amp-bf16"});
    ASSERT_TRUE(parsed.errors.empty());
    RunSummary run;
    run.run = "12";
    run.config = parsed.config;
    const Lesson lesson = parse_lesson(draft_lesson(run, 25, "My run"), "draft");
    for (const auto& problem : lesson.problems) ADD_FAILURE() << problem.str();
    ASSERT_EQ(lesson.runs.size(), 1u);
    const auto settings = lesson_settings(lesson, lesson.runs[0], 3).config;
    EXPECT_EQ(settings.optimizer, parsed.config.optimizer);
    EXPECT_EQ(settings.model, parsed.config.model);
    EXPECT_EQ(settings.precision, parsed.config.precision);
    EXPECT_EQ(settings.max_steps, 25);
}

}  // namespace
}  // namespace engine
