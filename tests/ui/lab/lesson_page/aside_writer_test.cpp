#include "lab/lesson_page/aside_writer.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QSemaphore>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QThreadPool>

#include "engine/base/error.h"
#include "engine/io/named_file.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

constexpr int writing = 20'000;

struct AsideWriterTest : testing::Test {
    /// Begins to write a file, and goes on once `go` is released.
    void hold(AsideWriter& writer) {
        writer.start([this] {
            begun.release();
            go.acquire();
            engine::write_named_file(file.toStdString(), "answers");
            return file;
        });
        ASSERT_TRUE(begun.tryAcquire(1, writing));
    }
    QTemporaryDir folder;
    QString file = folder.filePath(u"answers.csv"_s);
    QSemaphore begun, go;
};

TEST_F(AsideWriterTest, TellsWhatItWroteOrWhyNot) {
    AsideWriter writer;
    QString written, problem;
    QObject::connect(&writer, &AsideWriter::ended, &writer,
                     [&](const QString& name, const Failure& failure) {
                         written = name;
                         problem = failure.text();
                     });
    QSignalSpy ended(&writer, &AsideWriter::ended);
    go.release();
    hold(writer);
    ASSERT_TRUE(ended.wait(writing) || ended.count() == 1);
    EXPECT_EQ(written, file);
    EXPECT_TRUE(problem.isEmpty());
    EXPECT_TRUE(QFile::exists(file));
    EXPECT_FALSE(writer.running());
    writer.start([]() -> QString { throw engine::Error(engine::ErrorCode::io, "No room.", "Wait."); });
    ASSERT_TRUE(ended.wait(writing) || ended.count() == 2);
    EXPECT_TRUE(written.isEmpty());
    EXPECT_TRUE(problem.startsWith(u"No room"_s)) << problem.toStdString();
}

TEST_F(AsideWriterTest, GivenUpItLeavesNothingBehind) {
    AsideWriter writer;
    QSignalSpy cancelled(&writer, &AsideWriter::cancelled), ended(&writer, &AsideWriter::ended);
    hold(writer);
    writer.cancel();
    go.release();
    ASSERT_TRUE(cancelled.wait(writing) || cancelled.count() == 1);
    EXPECT_EQ(ended.count(), 0);
    EXPECT_TRUE(QDir(folder.path()).isEmpty());
}

TEST_F(AsideWriterTest, EndsWithItsDialog) {
    auto writer = std::make_unique<AsideWriter>();
    hold(*writer);
    writer.reset();
    go.release();
    QThreadPool::globalInstance()->waitForDone();
    EXPECT_TRUE(QDir(folder.path()).isEmpty());
}

}  // namespace
}  // namespace ui
