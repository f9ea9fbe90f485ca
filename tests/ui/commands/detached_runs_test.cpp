#include "commands/detached_runs.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// A history, and a program that writes down how it is called.
class DetachedRunsTest : public testing::Test {
protected:
    void SetUp() override {
        QFile file(program_);
        ASSERT_TRUE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\necho \"$@\" >> \"" + calls_.toUtf8() + "\"\necho complaint >&2\n");
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    std::string add(engine::DoneReason reason) {
        const auto made = store_.create({});
        engine::RunDone done{};
        done.run = made.run;
        done.reason = reason;
        store_.append(done);
        return made.run;
    }
    QString calls() const {
        QFile file(calls_);
        return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
    }

    QTemporaryDir dir_;
    const QString calls_ = dir_.filePath(u"calls"_s);
    const QString program_ = dir_.filePath(u"program"_s);
    engine::RunStore store_{dir_.filePath(u"runs"_s).toStdString()};
};

TEST_F(DetachedRunsTest, AStoppedRunIsResumedAndOneThatEndedIsNot) {
    const std::string stopped = add(engine::DoneReason::stopped);
    const std::string done = add(engine::DoneReason::epochs);
    EXPECT_TRUE(trainOn(program_, store_, {stopped, done, "77"}));
    const QString folder = QString::fromStdString((store_.root() / stopped).string());
    ASSERT_TRUE(QTest::qWaitFor([this] { return calls().endsWith(u'\n'); }, 300'000));
    EXPECT_EQ(calls(), u"resume "_s + folder + u'\n');
    const QString log = QString::fromStdString((store_.root() / "train-on.log").string());
    EXPECT_TRUE(QTest::qWaitFor([&] { return QFileInfo(log).size() > 0; }, 300'000));
}

TEST_F(DetachedRunsTest, AProgramThatIsNotThereIsNoticed) {
    EXPECT_FALSE(trainOn(dir_.filePath(u"none"_s), store_, {add(engine::DoneReason::stopped)}));
}

}  // namespace
}  // namespace ui
