#include "commands/file_works.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include "engine/io/named_file.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

constexpr int worksPatience = 20'000;  // ms

struct FileWorksTest : testing::Test {
    FileWorksTest() {
        QObject::connect(&works, &FileWorks::told, &works,
                         [this](const Problem& problem) { said.push_back(problem); });
    }
    bool ends() {
        return QTest::qWaitFor([this] { return !works.busy(); }, worksPatience);
    }
    QString at(const QString& name) const { return folder.filePath(name); }
    /// Writes `name` over and over, until it is cancelled.
    std::function<QString()> endless(const QString& name) const {
        return [file = at(name).toStdString()] {
            for (;;) engine::write_named_file(file + ".new", "x");
            return QString();
        };
    }

    QTemporaryDir folder;
    FileWorks works;
    std::vector<Problem> said;
};

TEST_F(FileWorksTest, WriteOffTheGuiThreadAndSayWhere) {
    QThread* wrote = nullptr;
    bool done = false;
    works.write(
        at(u"a.csv"_s),
        [&wrote, writer = writerOf(at(u"a.csv"_s), "a,b\n")] {
            wrote = QThread::currentThread();
            writer();
        },
        [&done] { done = true; }, &works);
    EXPECT_TRUE(works.busy());
    EXPECT_EQ(works.text(), u"Exporting a.csv"_s) << "nothing is known of its length";
    ASSERT_TRUE(ends());
    EXPECT_NE(wrote, QThread::currentThread());
    EXPECT_TRUE(done);
    ASSERT_EQ(said.size(), 1U);
    EXPECT_TRUE(said[0].note);
    EXPECT_EQ(said[0].sentence, u"Exported to %1."_s.arg(at(u"a.csv"_s)));
    EXPECT_EQ(said[0].file, at(u"a.csv"_s));
    EXPECT_TRUE(QFile::exists(at(u"a.csv"_s)));
}

TEST_F(FileWorksTest, SayWhyTheyFailed) {
    bool done = false;
    works.write(
        at(u"absent/a.csv"_s), writerOf(at(u"absent/a.csv"_s), "a"), [&done] { done = true; },
        &works);
    ASSERT_TRUE(ends());
    ASSERT_EQ(said.size(), 1U);
    EXPECT_FALSE(said[0].note);
    EXPECT_TRUE(said[0].sentence.contains(u"absent/a.csv"_s)) << said[0].sentence.toStdString();
    EXPECT_EQ(said[0].hint, u"Give a folder that can be written."_s);
    EXPECT_FALSE(done);
}

TEST_F(FileWorksTest, AreCancelledOneByOneAndLeaveNothing) {
    works.start({u"Exporting one"_s, at(u"one"_s), endless(u"one"_s)});
    works.write(at(u"two"_s), writerOf(at(u"two"_s), "2"));
    ASSERT_TRUE(QTest::qWaitFor([this] { return works.isLong(); }, worksPatience));
    ASSERT_TRUE(QTest::qWaitFor([this] { return !said.empty(); }, worksPatience)) << "the second ends";
    EXPECT_EQ(works.text(), u"Exporting one"_s);
    works.cancel();
    EXPECT_EQ(works.text(), u"Exporting one: cancelling…"_s);
    ASSERT_TRUE(ends());
    ASSERT_EQ(said.size(), 2U);
    EXPECT_TRUE(said[1].note);
    EXPECT_EQ(said[1].sentence, u"Exporting one: cancelled. Nothing was kept."_s);
    for (const QString& file : QDir(folder.path()).entryList(QDir::Files))
        EXPECT_FALSE(file.endsWith(u".part"_s)) << file.toStdString();
}

/// Work that a lost page asked for is done all the same, but nobody is told to go on with it.
TEST_F(FileWorksTest, OutliveTheirOwner) {
    bool done = false;
    auto owner = std::make_unique<QObject>();
    works.write(
        at(u"a"_s), writerOf(at(u"a"_s), "a"), [&done] { done = true; }, owner.get());
    owner.reset();
    ASSERT_TRUE(ends());
    EXPECT_TRUE(QFile::exists(at(u"a"_s)));
    EXPECT_FALSE(done);
}

TEST_F(FileWorksTest, EndWithThisObject) {
    {
        FileWorks passing;
        passing.start({u"Exporting one"_s, at(u"one"_s), endless(u"one"_s)});
    }
    for (const QString& file : QDir(folder.path()).entryList(QDir::Files))
        EXPECT_FALSE(file.endsWith(u".part"_s)) << file.toStdString();
}

}  // namespace
}  // namespace ui
