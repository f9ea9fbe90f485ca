#include "lab/lessons/lesson_shelf.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "engine/base/error.h"
#include "lesson_folder.h"
#include "support/lesson_texts.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using test_support::number_lesson;
using test_support::small_lesson;

TEST(LessonShelf, ALessonOpenedLaterTakesThePlaceOfOneWithItsName) {
    const QTemporaryDir one, two;
    LessonShelf shelf(u"en"_s);
    const auto before = shelf.entries().size();
    ASSERT_EQ(shelf.open(writeLesson(one, u"mine"_s, small_lesson("First"))), u"mine"_s);
    ASSERT_EQ(shelf.open(writeLesson(two, u"mine"_s, small_lesson("Second"))), u"mine"_s);
    EXPECT_EQ(shelf.find(u"mine"_s)->title, "Second");
    EXPECT_EQ(shelf.entries().size(), before + 1);
}

TEST(LessonShelf, OpensAFolderOfLessons) {
    const QTemporaryDir folder;
    writeLesson(folder, u"a"_s, small_lesson("A"));
    writeLesson(folder, u"b"_s, number_lesson());
    LessonShelf shelf(u"en"_s);
    shelf.open(folder.path());
    EXPECT_NE(shelf.find(u"a"_s), nullptr);
    EXPECT_NE(shelf.find(u"b"_s), nullptr);
    EXPECT_THROW(shelf.open(folder.filePath(u"absent.lesson.md"_s)), engine::Error);
}

TEST(LessonShelf, ABrokenLessonIsInTheListWithItsProblems) {
    const QTemporaryDir folder;
    LessonShelf shelf(u"en"_s);
    shelf.open(writeLesson(folder, u"bad"_s, small_lesson() + "\n## More\n```nonsense\nx\n```\n"));
    const auto entries = shelf.entries();
    const auto at = std::ranges::find(entries, u"bad"_s, &LessonEntry::name);
    ASSERT_NE(at, entries.end());
    EXPECT_TRUE(at->broken);
}

TEST(LessonShelf, NoticesThatTheFileWasChangedAndReadsItAgain) {
    const QTemporaryDir folder;
    LessonShelf shelf(u"en"_s);
    shelf.open(writeLesson(folder, u"mine"_s, small_lesson("Before")));
    shelf.watch(u"mine"_s);
    QSignalSpy changed(&shelf, &LessonShelf::fileChanged);
    writeLesson(folder, u"mine"_s, small_lesson("After the change"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !changed.isEmpty(); }, 300'000));
    EXPECT_EQ(shelf.find(u"mine"_s)->title, "Before");
    shelf.reload(u"mine"_s);
    EXPECT_EQ(shelf.find(u"mine"_s)->title, "After the change");
}

}  // namespace
}  // namespace ui
