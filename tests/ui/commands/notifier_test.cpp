#include "commands/notifier.h"

#include <QSignalSpy>
#include <fstream>

#include "commands/desktop.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct NotifierTest : WindowFixture {
    NotifierTest() {
        const QDBusConnection none{u"halftone-none"_s};
        desktop.setBuses(none, none);
        notifier.setInFront(false);
    }
    static engine::RunConfig spirals(const std::vector<std::string>& more = {}) {
        std::vector<std::string> settings = {"dataset.kind=spirals",    "model.kind=mlp",
                                             "dataset.train_limit=256", "dataset.test_limit=64",
                                             "batch_size=32",           "max_steps=6"};
        settings.insert(settings.end(), more.begin(), more.end());
        return engine::parse_run_config("{}", settings).config;
    }
    QString titleOf(int index) const { return told[index][0].toString(); }

    Desktop desktop;
    Notifier notifier{&feed, &queue, &history, &commands, &desktop};
    QSignalSpy told{&notifier, &Notifier::told};
};

TEST_F(NotifierTest, TheEndOfAComparisonIsToldOnceAndProgressIsShown) {
    QSignalSpy progress(&notifier, &Notifier::progressChanged);
    settings.load(spirals({"max_steps=800", "epochs=1000", "model.options.hidden=256,256"}),
                  {u"fp32"_s, u"amp-fp16"_s});
    commands.compare();
    ASSERT_TRUE(told.wait(120'000));
    EXPECT_EQ(titleOf(0), u"Comparison 1 has ended"_s);
    EXPECT_FALSE(told[0][1].toString().isEmpty());
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return !progress.isEmpty() && progress.last()[0].toDouble() < 0; }, 300'000))
        << "nothing runs any more";
    EXPECT_FALSE(notifier.isWaiting());
    EXPECT_EQ(told.size(), 1);
    EXPECT_TRUE(
        std::ranges::any_of(progress, [](const auto& each) { return each[0].toDouble() > 0; }));
}

TEST_F(NotifierTest, WhatTheUserStoppedOrSeesIsNotTold) {
    ASSERT_TRUE(commands.train({spirals({"max_steps=1000000", "epochs=1000000"})}));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() >= 3; }, 300'000));
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !notifier.isWaiting(); }, 300'000));
    notifier.setInFront(true);
    ASSERT_TRUE(commands.train({spirals()}));
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !notifier.isWaiting(); }, 300'000));
    EXPECT_TRUE(told.isEmpty());
}

TEST_F(NotifierTest, TheQueuesEndIsToldAndItsCommandGetsTheRuns) {
    const QString file = folder.filePath(u"told"_s);
    queue.setAtEnd(
        QueueRunner::AtEnd::command,
        u"echo \"$HALFTONE_KIND/$HALFTONE_RUN/$HALFTONE_STATE/$HALFTONE_REASON\" > '%1'"_s.arg(
            file));
    queue.add({{spirals({"seed=1"}), "a", ""}, {spirals({"seed=2"}), "b", ""}});
    queue.start();
    ASSERT_TRUE(QTest::qWaitFor([&] { return QFileInfo(file).size() > 0; }, 300'000));
    std::ifstream read(file.toStdString());
    std::string line;
    std::getline(read, line);
    EXPECT_EQ(line, "queue/1 2/done/2 done, 0 failed");
    ASSERT_FALSE(told.isEmpty());
    EXPECT_EQ(told.last()[0].toString(), u"The queue has ended"_s);
}

TEST_F(NotifierTest, ACommandThatTakesLongHoldsNothingUp) {
    const QString mayEnd = folder.filePath(u"may-end"_s), ended = folder.filePath(u"ended"_s);
    queue.setAtEnd(QueueRunner::AtEnd::command,
                   u"while [ ! -e '%1' ]; do sleep 0.02; done; : > '%2'"_s.arg(mayEnd, ended));
    queue.add({{spirals(), "a", ""}});
    queue.start();
    ASSERT_TRUE(told.wait(300'000));
    EXPECT_TRUE(QThreadPool::globalInstance()->waitForDone(10'000));
    EXPECT_FALSE(QFileInfo::exists(ended));
    std::ofstream(mayEnd.toStdString()) << "now";
    EXPECT_TRUE(QTest::qWaitFor([&] { return QFileInfo::exists(ended); }, 300'000));
}

}  // namespace
}  // namespace ui
