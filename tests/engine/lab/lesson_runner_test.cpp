#include "engine/lab/lesson_runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <thread>

#include "engine/base/error.h"
#include "engine/lab/lesson_results.h"
#include "engine/record/histogram_record.h"
#include "support/lesson_texts.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::comes_true;
using test::patience_s;
using test_support::small_lesson;
using test_support::with;

LessonStart quick(std::int64_t seed = 1) {
    return {.seed = seed, .knobs = {}, .paced = false, .folder = {}};
}

std::vector<float> losses(const StepRecordReader& record) {
    std::vector<float> out;
    for (std::int64_t i = 0; i < record.size(); ++i) out.push_back(record.row(i).loss);
    return out;
}

/// The losses of the run when it is trained alone.
std::vector<float> losses_alone(const RunConfig& config) {
    const test_support::TempFolder root;
    const auto store = std::make_shared<RunStore>(root.path());
    Session session(config, std::make_shared<ComputeThread>(), store);
    session.post(Command::start);
    EXPECT_TRUE(session.wait(patience_s));
    return losses(session.record());
}

TEST(LessonRunner, TrainsEachRunAsItWouldBeAlone) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    LessonRunner runner(lesson, quick());
    EXPECT_EQ(runner.state(), LessonRunner::State::ready);
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    ASSERT_EQ(runner.runs().size(), 2u);
    for (const LessonRunView& run : runner.runs()) {
        ASSERT_TRUE(run.done) << run.name;
        EXPECT_EQ(run.done->steps, 40);
        EXPECT_EQ(losses(run.record), losses_alone(run.config)) << run.name;
    }
    EXPECT_GT(runner.find("high")->done->skipped, 0);
    EXPECT_EQ(runner.find("plain")->done->skipped, 0);
}

TEST(LessonRunner, FollowsAWeight) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    LessonRunner runner(lesson, quick());
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    const LessonRunView& plain = *runner.find("plain");
    ASSERT_EQ(plain.weights.size(), 1u);
    EXPECT_EQ(plain.weights[0]->problem(), "");
    EXPECT_EQ(plain.weights[0]->dtype(), "f32");
    ASSERT_EQ(plain.weights[0]->size(), 40);
    for (std::int64_t step = 2; step <= 40; ++step)
        EXPECT_EQ(plain.weights[0]->at(step)->before, plain.weights[0]->at(step - 1)->after);
    const LessonRunView& high = *runner.find("high");
    for (std::int64_t step = 1; step <= 40; ++step) {
        const auto change = high.weights[0]->at(step);
        ASSERT_TRUE(change);
        if (high.record.row(step - 1).found_inf) {
            EXPECT_EQ(change->before, change->after) << step;
        }
    }
}

TEST(LessonRunner, KeepsTheHistogramsThatTheLessonShows) {
    const Lesson lesson = parse_lesson(
        with(small_lesson(), "bits tenth", "histogram gradients: high\nbits tenth"), "small");
    ASSERT_TRUE(lesson.problems.empty()) << lesson.problems[0].str();
    LessonRunner runner(lesson, quick());
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    EXPECT_FALSE(HistogramRecordReader::exists(runner.find("plain")->folder)) << "not shown";
    auto reader = HistogramRecordReader::open(runner.find("high")->folder);
    reader.refresh();
    ASSERT_TRUE(reader.nearest(40));
    const auto gradients = reader.read(*reader.nearest(40)).total(HistogramKind::gradients);
    EXPECT_GT(std::accumulate(gradients.bins.begin(), gradients.bins.end(), std::int64_t{0}), 0);
}

TEST(LessonRunner, SaysThatAWeightIsMissing) {
    const Lesson lesson =
        parse_lesson(with(small_lesson(), "fc1.weight[1,0]", "fc9.weight[1,0]"), "small");
    LessonRunner runner(lesson, quick());
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    EXPECT_NE(runner.find("plain")->weights[0]->problem().find("fc9.weight"), std::string::npos);
}

TEST(LessonRunner, PausesAndStepsInLockstep) {
    const Lesson lesson =
        parse_lesson(with(small_lesson(), "max_steps=40", "max_steps=100000"), "small");
    LessonRunner runner(lesson, quick());
    const auto rows = [&](std::size_t run) { return runner.runs()[run].record.size(); };
    const auto until = [&](auto&& condition) {
        return comes_true([&] {
            runner.update();
            return condition();
        });
    };
    runner.step();
    ASSERT_TRUE(until([&] { return rows(0) == 1 && rows(1) == 1; }));
    runner.run();
    ASSERT_TRUE(until([&] { return rows(0) > 20; }));
    runner.pause();
    const auto all_paused = [&] {
        for (const auto& run : runner.runs())
            if (run.session->state() != RunState::paused) return false;
        return rows(0) == rows(1);
    };
    ASSERT_TRUE(until(all_paused));
    const auto before = rows(0);
    runner.step();
    ASSERT_TRUE(until([&] { return rows(0) == before + 1 && rows(1) == before + 1; }));
    runner.stop();
    ASSERT_TRUE(runner.wait(patience_s));
    EXPECT_EQ(runner.find("plain")->done->reason, DoneReason::stopped);
}

TEST(LessonRunner, KeepsThePace) {
    const Lesson lesson =
        parse_lesson(with(small_lesson(), "pace: 400 steps/s", "pace: 80 steps/s"), "small");
    LessonRunner runner(lesson, {});
    const auto begin = std::chrono::steady_clock::now();
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    // 39 steps after the first, each at least 1/80 s after the previous one.
    EXPECT_GT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
              39 / 80.0 * 0.9);
}

TEST(LessonRunner, KnobsAndSeedReachTheRuns) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    LessonRunner runner(lesson, {.seed = 5, .knobs = {"scaler.init_scale=1024"}, .paced = false});
    EXPECT_EQ(runner.runs()[0].config.seed, 5);
    EXPECT_EQ(runner.runs()[0].config.scaler.init_scale, 1024);
    EXPECT_THROW(LessonRunner(lesson, {.seed = 1, .knobs = {"batch_size=0"}}), Error);
}

TEST(LessonRunner, ARunGoesOnFromAnother) {
    const Lesson lesson =
        parse_lesson(with(with(small_lesson(), "scaler.init_scale=16777216\n",
                               "scaler.init_scale=1024 scaler.growth_interval=5\n"),
                          "plain \"FP32\": precision.preset=fp32",
                          "plain: resume: high at 20 scaler.init_scale=1024 "
                          "scaler.growth_interval=5 teach.resume_without_scaler=true"),
                     "small");
    ASSERT_TRUE(lesson.problems.empty()) << lesson.problems[0].str();
    LessonRunner runner(lesson, quick());
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    const auto& high = *runner.find("high");
    const auto& plain = *runner.find("plain");
    ASSERT_TRUE(plain.done);
    ASSERT_EQ(plain.record.size(), 40);
    for (std::int64_t i = 0; i < 20; ++i)
        EXPECT_EQ(plain.record.row(i).loss, high.record.row(i).loss);
    EXPECT_GT(high.record.row(20).loss_scale, 1024) << "it has grown";
    EXPECT_EQ(plain.record.row(20).loss_scale, 1024) << "it begins again";
    EXPECT_EQ(high.done->steps, 40);
}

TEST(LessonRunner, ItsRunsGoWithIt) {
    std::filesystem::path folder;
    {
        const Lesson lesson = parse_lesson(small_lesson(), "small");
        LessonRunner runner(lesson, quick());
        runner.run();
        ASSERT_TRUE(runner.wait(patience_s));
        folder = runner.runs()[0].folder;
        EXPECT_TRUE(std::filesystem::exists(folder));
    }
    EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(LessonResults, AreThoseOfTheRecord) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    LessonRunner runner(lesson, quick());
    const MeasuredRuns measured(runner);
    for (const auto& each : check_results(lesson, measured))
        EXPECT_EQ(each.final, each.id == "lost") << each.id;
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    const auto results = check_results(lesson, measured);
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[0].id, "stop");
    EXPECT_EQ(std::get<double>(*results[0].value), 1) << "2^24 overflows at once";
    EXPECT_EQ(std::get<std::string>(*results[1].value), "worse");
    for (const auto& each : results) EXPECT_TRUE(each.final) << each.id;
    const auto expected = expectation_results(lesson, measured);
    ASSERT_EQ(expected.size(), 1u);
    EXPECT_EQ(expected[0].holds, true);
    EXPECT_EQ(is_right(lesson.predictions[0], LessonAnswer("worse"), results[1].value), true);
    EXPECT_EQ(is_right(lesson.predictions[0], LessonAnswer("same"), results[1].value), false);
    EXPECT_EQ(is_right(lesson.predictions[1], LessonAnswer(4.9), results[0].value), true)
        << "a tenth of the range";
    EXPECT_EQ(is_right(lesson.predictions[1], LessonAnswer(5.1), results[0].value), false);
}

TEST(LessonResults, ADrawnLossScaleIsComparedByPowersOfTwo) {
    Prediction scale{.kind = Prediction::Kind::curve, .column = "loss_scale", .low = 1, .high = 8};
    const LessonValue measured =
        std::vector<double>{65536, 32768, 16384, 8192, 4096, 2048, 1024, 512};
    const LessonAnswer good = std::vector<double>{65536, 32768, 16384, 8192, 4096, 2048, 1024, 512};
    const LessonAnswer early = std::vector<double>{65536, 512, 512, 512, 512, 512, 512, 512};
    EXPECT_EQ(is_right(scale, good, measured), true);
    EXPECT_EQ(is_right(scale, early, measured), false) << "right at its height alone";
}

TEST(LessonResults, TypesOfOperationsAndTheCauseOfASkip) {
    const Lesson lesson = parse_lesson(small_lesson(), "small");
    LessonRunner runner(lesson, quick());
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    const MeasuredRuns measured(runner);
    EXPECT_EQ(measured.xray("high", "linear", "output"), "fp16");
    EXPECT_EQ(measured.xray("plain", "linear", "output"), "fp32");
    EXPECT_EQ(measured.xray("plain", "no_such_op", "output"), "none");
    EXPECT_EQ(measured.skip("high", "cause"), LessonValue("scale_too_large"));
    EXPECT_EQ(measured.skip("high", "step"), LessonValue(1.0));
    EXPECT_EQ(measured.skip("plain", "cause"), LessonValue("none"));
}

TEST(LessonResults, EveryKeyOfARunHasAValue) {
    const Lesson lesson =
        parse_lesson(with(small_lesson(), "lost = tenth.error",
                          "lost = tenth.error\nshare = high.result.test_accuracy"),
                     "small");
    ASSERT_TRUE(lesson.problems.empty()) << lesson.problems[0].str();
    LessonRunner runner(lesson, quick());
    runner.run();
    ASSERT_TRUE(runner.wait(patience_s));
    const MeasuredRuns measured(runner);
    for (const char* key : {"steps", "updates", "skipped", "growths", "wall_s", "peak_bytes",
                            "step_ms", "test_loss", "test_accuracy"}) {
        const auto value = measured.result("high", key);
        ASSERT_TRUE(value) << key;
        EXPECT_TRUE(std::isfinite(*value)) << key;
    }
}

}  // namespace
}  // namespace engine
