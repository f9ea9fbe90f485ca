#include "engine/record/figures.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "made_record.h"
#include "support/figure_infos.h"
#include "support/part_figures.h"

namespace engine {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

ScaleChanged scale_at(std::int64_t step, float from, float to) {
    using Kind = ScaleChanged::Kind;
    return {"1", step, to > from ? Kind::grown : Kind::skipped_normal, from, to, 10};
}

EpochDone tested_at(std::int64_t step, double loss) {
    return {"1", 1, step, {}, {}, classified(loss, 0.5), 1};
}

FigureEvents events_of(const std::vector<Event>& list) {
    FigureEvents out;
    for (const Event& event : list) out.apply(event);
    return out;
}

TEST(KeyFigures, LossIsTheMeanOfTheLastTwentyStepsAndNotCentred) {
    const MadeRecord run(50, [](std::int64_t step) { return step; });
    const KeyFigures now = key_figures(run.reader(), {});
    EXPECT_EQ(now.loss, 50);
    EXPECT_EQ(now.loss_last_20, 40.5);  // 31 to 50
    EXPECT_EQ(loss_last_20(run.reader(), 30), 20.5);
    EXPECT_EQ(loss_last_20(run.reader(), 3), 2);  // fewer at the start
    EXPECT_TRUE(std::isnan(loss_last_20(run.reader(), 0)));
}

TEST(KeyFigures, AnEvaluationWithoutANumberCountsAndAnEpochWithoutAnEvaluationDoesNot) {
    const MadeRecord run(6, [](std::int64_t) { return 1.0; });
    EpochDone left_out = tested_at(6, 0.1);
    left_out.evaluated = false;
    EpochDone lost = tested_at(4, std::numeric_limits<double>::quiet_NaN());
    lost.test.metrics.clear();
    const KeyFigures now =
        key_figures(run.reader(), events_of({tested_at(2, 0.5), lost, left_out}));
    EXPECT_EQ(now.evaluated_at, 4);
    EXPECT_TRUE(std::isnan(now.test.loss));
}

TEST(KeyFigures, ALossThatIsNotFiniteCountsOnlyAsTheLastOne) {
    const MadeRecord run(4, [](std::int64_t step) { return step == 2 ? inf : 1.0; });
    EXPECT_EQ(key_figures(run.reader(), {}).loss_last_20, 1);
    const auto ends_so = run.reader().up_to(2);
    EXPECT_EQ(key_figures(ends_so, {}).loss_last_20, inf);
}

TEST(KeyFigures, ScaleNowIsThatOfTheNextStep) {
    const MadeRecord run(
        10, [](std::int64_t) { return 1; },
        [](StepRecord& row) {
            row.loss_scale = row.step <= 5 ? 512 : 256;
            row.found_inf = row.step == 5 || row.step == 10;
            row.updates = row.step - (row.step >= 5) - (row.step >= 10);
            row.scale_ceiling = 1024;
        });
    const FigureEvents events = events_of({scale_at(5, 512, 256), scale_at(10, 256, 128)});
    const KeyFigures now = key_figures(run.reader(), events);
    EXPECT_EQ(now.loss_scale, 256);
    EXPECT_EQ(now.scale_now, 128);
    EXPECT_EQ(now.headroom_bits, 3);
    EXPECT_EQ(now.skipped, 2);
    EXPECT_EQ(now.updates, 8);
    EXPECT_EQ(scale_after(run.reader(), events, 5), 256);
    EXPECT_EQ(scale_after(run.reader(), events, 4), 512);
    EXPECT_TRUE(std::isnan(scale_after(run.reader(), events, 11)));
    // A static scaler skips nothing and has no such event.
    EXPECT_EQ(key_figures(run.reader(), {}).scale_now, 256);
}

TEST(KeyFigures, SpeedIsSamplesByTimeInStepsHoweverTheStepsVary) {
    double elapsed = 0;
    const MadeRecord run(
        100, [](std::int64_t) { return 1; },
        [&](StepRecord& row) {
            elapsed += row.step % 2 == 0 ? 0.001 : 0.003;
            row.elapsed_s = elapsed;
        });
    const KeyFigures now = key_figures(run.reader(), {});
    EXPECT_NEAR(now.train_s, 0.2, 1e-12);
    EXPECT_NEAR(now.step_ms, 2, 1e-12);
    EXPECT_NEAR(now.samples_per_s, 32000, 1e-6);
    const MadeRecord untimed(5, [](std::int64_t) { return 1; });
    EXPECT_TRUE(std::isnan(key_figures(untimed.reader(), {}).samples_per_s));
}

TEST(KeyFigures, PeakIsThatOfAllPartsOfARun) {
    const MadeRecord run(
        10, [](std::int64_t) { return 1; },
        [](StepRecord& row) { row.peak_bytes = row.step <= 6 ? 300 : 200; });
    EXPECT_EQ(key_figures(run.reader(), events_of({RunResumed{"1", 6}})).peak_bytes, 300);
}

TEST(KeyFigures, WhatCameAfterTheStepOfAResumeDoesNotCount) {
    const MadeRecord run(
        8, [](std::int64_t) { return 1; },
        [](StepRecord& row) { row.loss_scale = row.step <= 3 ? 2 : 4; });
    const std::vector<Event> before = {scale_at(3, 2, 4), tested_at(5, 0.5), scale_at(8, 4, 8),
                                       tested_at(8, 0.4)};
    const KeyFigures whole = key_figures(run.reader(), events_of(before));
    EXPECT_EQ(whole.test.loss, 0.4);
    EXPECT_EQ(whole.evaluated_at, 8);
    EXPECT_EQ(whole.growths, 2);
    EXPECT_EQ(whole.scale_now, 8);
    auto resumed = before;
    resumed.emplace_back(RunResumed{"1", 6});
    const KeyFigures now = key_figures(run.reader().up_to(6), events_of(resumed));
    EXPECT_EQ(now.test.loss, 0.5);
    EXPECT_EQ(now.growths, 1);
    EXPECT_EQ(now.scale_now, 4);
}

TEST(KeyFigures, OfARunWithoutStepsAreUnknown) {
    const KeyFigures none = key_figures(StepRecordReader(), {});
    EXPECT_TRUE(std::isnan(none.loss_last_20));
    EXPECT_TRUE(std::isnan(none.scale_now));
    EXPECT_FALSE(none.test.known());
    EXPECT_EQ(none.steps, 0);
}

TEST(FigureInfos, NameEachFigureOnceAndEachColumnOfTheRecord) {
    std::set<std::string_view> keys, titles;
    for (const FigureInfo& info : figure_infos()) {
        EXPECT_TRUE(keys.insert(info.key).second) << info.key;
        EXPECT_TRUE(titles.insert(info.title).second) << info.title;
        EXPECT_TRUE(info.definition.ends_with('.')) << info.key;
        EXPECT_FALSE(info.owner.empty()) << info.key;
    }
    for_each_field([&](std::string_view column, auto) {
        if (!column.starts_with("metric_")) {
            EXPECT_TRUE(keys.contains(column)) << column;
        }
    });
}

}  // namespace
}  // namespace engine
