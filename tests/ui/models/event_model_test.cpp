#include "models/event_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <cmath>

#include "feed/run_track.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::ScaleChanged grown(std::int64_t step) {
    return {.run = "1",
            .step = step,
            .kind = engine::ScaleChanged::Kind::grown,
            .from = 1024,
            .to = 2048,
            .clean_steps = 25};
}

engine::EpochDone epoch(std::int64_t step) {
    return {.run = "1",
            .epoch = 1,
            .step = step,
            .train = {1, {{"accuracy", 0.5}}},
            .validation = {},
            .test = {1, {{"accuracy", 0.5}}},
            .seconds = 2};
}

struct EventModelTest : testing::Test {
    RunTrack track{"1", {}};
    EventModel model;
    QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::Fatal};

    qlonglong stepAt(int row) {
        return model.index(row, 0).data(EventModel::StepRole).toLongLong();
    }
};

TEST_F(EventModelTest, ShowsTheNewestFirstAndOnlyWhenFlushed) {
    model.add(track, grown(10));
    model.add(track, grown(20));
    EXPECT_EQ(model.rowCount(), 0);
    model.flush();
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(stepAt(0), 20);
    EXPECT_EQ(stepAt(1), 10);
}

TEST_F(EventModelTest, KeepsTheNewestWhenThereAreTooMany) {
    for (std::size_t i = 1; i <= EventModel::most + 100; ++i) {
        model.add(track, grown(static_cast<std::int64_t>(i)));
        if (i % 1000 == 0) model.flush();
    }
    model.flush();
    EXPECT_EQ(model.rowCount(), static_cast<int>(EventModel::most));
    EXPECT_EQ(stepAt(0), static_cast<qlonglong>(EventModel::most) + 100);
}

TEST_F(EventModelTest, MergesSeveralRunsByStep) {
    auto a = std::make_shared<RunTrack>("1", engine::RunConfig{});
    auto b = std::make_shared<RunTrack>("2", engine::RunConfig{});
    a->apply(grown(10));
    a->apply(grown(30));
    b->apply(grown(20));
    model.reset({a, b});
    ASSERT_EQ(model.rowCount(), 3);
    EXPECT_EQ(stepAt(0), 30);
    EXPECT_EQ(stepAt(1), 20);
    EXPECT_EQ(stepAt(2), 10);
}

engine::ScaleChanged skip(std::int64_t step, float from) {
    return {.run = "1",
            .step = step,
            .kind = engine::ScaleChanged::Kind::skipped_persistent,
            .from = from,
            .to = from / 2,
            .clean_steps = 0,
            .loss = std::nanf("")};
}

TEST_F(EventModelTest, FoldsSkipsOfConsecutiveStepsIntoOneRowThatGrows) {
    RunTrack other("2", {});
    model.add(track, skip(27, 65536));
    model.flush();
    EXPECT_EQ(model.index(0, 0).data().toString(), u"Skipped: the loss is NaN. Scale 2¹⁶ → 2¹⁵."_s);
    const auto id = model.index(0, 0).data(EventModel::IdRole);
    model.add(track, skip(28, 32768));
    model.add(other, grown(28));
    model.flush();
    model.add(track, skip(29, 16384));
    model.flush();
    ASSERT_EQ(model.rowCount(), 2) << "another run's event does not begin a new row";
    const QModelIndex row = model.index(1, 0);
    EXPECT_EQ(row.data().toString(), u"Skipped 27–29, 3 times. Scale 2¹⁶ → 2¹³."_s);
    EXPECT_EQ(row.data(EventModel::StepRole), 27);
    EXPECT_EQ(row.data(EventModel::LastStepRole), 29);
    EXPECT_NE(row.data(EventModel::IdRole), id) << "or its old height would be kept";
    model.add(track, skip(31, 8192));
    model.flush();
    EXPECT_EQ(model.rowCount(), 3) << "step 30 was applied";
}

TEST_F(EventModelTest, FoldsTheSkipsOfAStoredRunToo) {
    auto stored = std::make_shared<RunTrack>("1", engine::RunConfig{});
    for (int step = 27; step <= 158; ++step) {
        stored->apply(skip(step, 65536));
        if (step == 30) stored->apply(engine::RunWarning{"1", engine::msg("a warning"), 30});
    }
    model.reset({stored});
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_TRUE(model.index(1, 0).data().toString().startsWith(u"Skipped 27–158, 132 times."_s));
}

TEST_F(EventModelTest, IsFilteredByKind) {
    EventFilter filter;
    filter.setSourceModel(&model);
    QAbstractItemModelTester filterTester(&filter,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.add(track, grown(10));
    model.add(track, epoch(20));
    model.flush();
    EXPECT_EQ(filter.rowCount(), 2);
    filter.setShow(EventFilter::Show::epochs);
    ASSERT_EQ(filter.rowCount(), 1);
    EXPECT_EQ(filter.index(0, 0).data(EventModel::StepRole).toLongLong(), 20);
    filter.setShow(EventFilter::Show::scale);
    ASSERT_EQ(filter.rowCount(), 1);
    EXPECT_EQ(filter.index(0, 0).data(EventModel::StepRole).toLongLong(), 10);
    filter.setShow(EventFilter::Show::skips);
    EXPECT_EQ(filter.rowCount(), 0);
}

}  // namespace
}  // namespace ui
