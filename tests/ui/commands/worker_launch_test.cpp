#include "commands/worker_launch.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// A script takes the place of the program.
struct WorkerLaunchTest : testing::Test {
    QString program(const QByteArray& script) {
        const QString path = folder.filePath(u"program"_s);
        QFile file(path);
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\n" + script);
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }
    static QString textOf(const QSignalSpy& ended, int argument) {
        return ended.count() == 1 ? ended[0][argument].toString() : u"(not ended)"_s;
    }

    QTemporaryDir folder;
};

TEST_F(WorkerLaunchTest, SaysInWhichFolderTheRunHasBegunAndStopsIt) {
    // The settings are in a file that can be read while the program runs.
    WorkerLaunch launch(
        program("test \"$1\" = train && grep -q '\"workers\": 3' \"$2\" || exit 9\n"
                "trap 'exit 0' TERM\n"
                "echo '{\"event\":\"created\",\"folder\":\"/no\"}'\n"
                "echo '{\"event\":\"start\",\"folder\":\"/runs/7\"}'\n"
                "while true; do echo '{\"event\":\"step\"}'; sleep 0.05; done\n"));
    QSignalSpy began(&launch, &WorkerLaunch::began), ended(&launch, &WorkerLaunch::ended);
    engine::RunConfig config;
    config.workers = 3;
    launch.start(config);
    ASSERT_TRUE(began.wait(300'000));
    EXPECT_EQ(began[0][0].toString(), u"/runs/7"_s);
    EXPECT_TRUE(launch.running());
    launch.stop();
    EXPECT_TRUE(launch.stopping());
    ASSERT_TRUE(ended.wait(300'000));
    EXPECT_EQ(textOf(ended, 0), QString()) << "a run that was stopped has not failed";
    EXPECT_FALSE(launch.running());
    EXPECT_EQ(began.count(), 1);
}

TEST_F(WorkerLaunchTest, SaysWhyTheWorkersFailed) {
    WorkerLaunch launch(
        program("echo 'mpirun noticed something' >&2\n"
                "echo 'halftone: Rank 1 ended unexpectedly.' >&2\n"
                "echo 'Try again.' >&2\n"
                "exit 5\n"));
    QSignalSpy ended(&launch, &WorkerLaunch::ended);
    launch.start({});
    ASSERT_TRUE(ended.wait(300'000));
    EXPECT_EQ(textOf(ended, 0), u"Rank 1 ended unexpectedly."_s);
    EXPECT_EQ(textOf(ended, 1), u"Try again."_s);
}

TEST_F(WorkerLaunchTest, AProgramThatSaysNothingHasItsExitCodeShown) {
    WorkerLaunch launch(program("exit 7\n"));
    QSignalSpy ended(&launch, &WorkerLaunch::ended);
    launch.start({});
    ASSERT_TRUE(ended.wait(300'000));
    EXPECT_EQ(textOf(ended, 0), u"The workers ended with exit code 7."_s);
}

TEST_F(WorkerLaunchTest, AProgramThatIsNotThereIsReported) {
    WorkerLaunch launch(folder.filePath(u"nothing"_s));
    QSignalSpy ended(&launch, &WorkerLaunch::ended);
    launch.start({});
    ASSERT_TRUE(QTest::qWaitFor([&] { return ended.count() == 1; }, 300'000));
    EXPECT_TRUE(textOf(ended, 0).startsWith(u"The program cannot be started"_s));
}

TEST_F(WorkerLaunchTest, TheRunIsStoppedWithTheWindow) {
    const QString mark = folder.filePath(u"stopped"_s);
    {
        WorkerLaunch launch(program("trap 'echo > " + mark.toUtf8() +
                                    "; exit 0' TERM\n"
                                    "echo '{\"event\":\"start\",\"folder\":\"/runs/7\"}'\n"
                                    "while true; do sleep 0.05; done\n"));
        QSignalSpy began(&launch, &WorkerLaunch::began);
        launch.start({});
        ASSERT_TRUE(began.wait(300'000));
    }
    EXPECT_TRUE(QFile::exists(mark));
}

}  // namespace
}  // namespace ui
