#include "models/queue_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::QueuedRun queued(std::int64_t id, engine::QueueState state) {
    engine::QueuedRun run;
    run.id = id;
    run.entry = {engine::parse_run_config("{}", {"optimizer.lr=0.25"}).config, "lr", ""};
    run.state = state;
    return run;
}

QString queueText(const QueueModel& model, int row, int column) {
    return model.index(row, column).data().toString();
}

TEST(QueueModel, ListsTheRunsWithTheirStates) {
    QueueModel model;
    const QAbstractItemModelTester tester(&model);
    auto done = queued(4, engine::QueueState::done);
    done.run = "12";
    model.setRuns({done, queued(7, engine::QueueState::waiting)});
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(queueText(model, 0, QueueModel::Settings), u"lr"_s);
    EXPECT_EQ(queueText(model, 0, QueueModel::State), u"done"_s);
    EXPECT_EQ(queueText(model, 0, QueueModel::Run), u"12"_s);
    EXPECT_EQ(queueText(model, 1, QueueModel::State), u"waiting"_s);
    EXPECT_EQ(model.index(0, 0).data(Qt::ToolTipRole).toString(), u"Learning rate: 0.25"_s);
    EXPECT_EQ(model.rowOf(7), 1);
    EXPECT_EQ(model.rowOf(8), -1);
}

TEST(QueueModel, SaysWhyARunIsRefused) {
    QueueModel model;
    auto run = queued(1, engine::QueueState::waiting);
    run.errors = {{"model.kind", "of-tomorrow", engine::msg("use {}", "mlp")}};
    model.setRuns({run});
    EXPECT_EQ(queueText(model, 0, QueueModel::State), u"refused"_s);
    EXPECT_TRUE(model.index(0, 0).data(Qt::ToolTipRole).toString().contains(u"of-tomorrow"_s));
}

TEST(QueueModel, SaysWhoTrainsARunAndWhyItsJobIsWhereItIs) {
    QueueModel model;
    auto job = queued(1, engine::QueueState::submitted);
    job.entry.where = engine::QueuePlace::slurm;
    model.setRuns({queued(2, engine::QueueState::waiting), job});
    EXPECT_EQ(queueText(model, 0, QueueModel::Where), u"this machine"_s);
    EXPECT_EQ(queueText(model, 1, QueueModel::Where), u"Slurm"_s);
    job.job = {"41", "/jobs/queue-1", engine::JobNote::waits, "Resources"};
    model.setRuns({queued(2, engine::QueueState::waiting), job});
    EXPECT_EQ(queueText(model, 1, QueueModel::Where), u"Slurm, job 41"_s);
    EXPECT_EQ(queueText(model, 1, QueueModel::State), u"submitted"_s);
    const auto tip = [&](int column) {
        return model.index(1, column).data(Qt::ToolTipRole).toString();
    };
    EXPECT_EQ(tip(QueueModel::State), u"The job waits in Slurm: Resources"_s);
    EXPECT_EQ(tip(QueueModel::Settings), u"Learning rate: 0.25"_s);
    const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    job.job.words = "Priority";
    model.setRuns({queued(2, engine::QueueState::waiting), job});
    EXPECT_EQ(resets.size(), 1) << "a note is news";
}

TEST(QueueModel, IsNotResetWhereNothingHasChanged) {
    QueueModel model;
    model.setRuns({queued(1, engine::QueueState::waiting)});
    const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    model.setRuns({queued(1, engine::QueueState::waiting)});
    EXPECT_EQ(resets.size(), 0);
    model.setRuns({queued(1, engine::QueueState::running)});
    EXPECT_EQ(resets.size(), 1);
}

}  // namespace
}  // namespace ui
