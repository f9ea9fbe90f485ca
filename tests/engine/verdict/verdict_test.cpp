#include "engine/verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "made_record.h"
#include "support/part_figures.h"

namespace engine {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// A run with one evaluation.
RunFigures figures(const std::string& precision, const MadeRecord& record, double accuracy = 0.9) {
    RunFigures run{precision, record.reader(), {{500, classified(0.3, accuracy)}}, 0};
    run.speed = speeds({record.reader()}).front();
    run.turns = "together";
    return run;
}

/// Makes a step twice as fast, in half the memory.
void halved(StepRecord& row) {
    row.step_ms = 1;
    row.peak_bytes = 1 << 19;
}

TEST(Verdict, IsTooEarlyBeforeBothHaveATestEvaluation) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1)), b(500, jittered(1.5, 0.02, 2));
    const RunFigures evaluated = figures("fp32", a);
    RunFigures not_yet = figures("amp-fp16", b);
    not_yet.tests.clear();
    for (const auto& verdict : {judge(evaluated, not_yet), judge(not_yet, evaluated)}) {
        EXPECT_EQ(verdict.headline.str(), "Too early to say.");
        EXPECT_EQ(verdict.tone, VerdictTone::neutral);
        EXPECT_THAT(verdict.details(), HasSubstr("After 500 steps the losses are 0.5"));
    }
}

TEST(Verdict, IsTooEarlyWithoutSteps) {
    const MadeRecord none(0, jittered(1.0, 0, 1));
    const Verdict verdict = judge(figures("fp32", none), figures("amp-fp16", none));
    EXPECT_EQ(verdict.headline.str(), "Too early to say.");
    EXPECT_EQ(judge({}, {}).headline.str(), "Too early to say.");
}

TEST(Verdict, CallsAGapWithinTheSpreadOverStepsTheSameResultAndSaysHowItKnows) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.003, 0.05, 2), halved);
    const Verdict verdict = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Same result so far.");
    EXPECT_EQ(verdict.tone, VerdictTone::good);
    EXPECT_THAT(verdict.details(), HasSubstr("step-to-step noise 0.1"));
    EXPECT_THAT(verdict.details(), HasSubstr("(1 seed)"));
    EXPECT_THAT(verdict.details(), StartsWith("2.0× as fast, 50 % less memory. Losses"));
    EXPECT_THAT(verdict.details(),
                HasSubstr("Typical speed: 64,000 samples/s against 32,000, over steps 11 to 500."));
}

TEST(Verdict, GivesNoCostWhereASpeedIsUnknown) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.0, 0.05, 2), halved);
    RunFigures unmeasured = figures("amp-fp16", b);
    unmeasured.speed = {};
    const Verdict verdict = judge(figures("fp32", a), unmeasured);
    EXPECT_EQ(verdict.headline.str(), "Same result so far.");
    EXPECT_TRUE(verdict.cost.empty());
    EXPECT_THAT(verdict.details(), Not(HasSubstr("samples/s")));
}

TEST(Verdict, SaysWhatASlowerRunInLessMemoryCosts) {
    const auto slower = [](StepRecord& row) {
        row.step_ms = 2 / 0.84F;
        row.peak_bytes = 650'000;
    };
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.0, 0.05, 2), slower);
    const Verdict verdict = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_THAT(verdict.details(), StartsWith("16 % slower, 38 % less memory. "));
}

TEST(Verdict, SaysWhereAFewSlowStepsPutTheSpeedsOfTheCardsInTheOtherOrder) {
    const auto made = [](float step_ms, double all_s) {
        return [=](StepRecord& row) {
            row.step_ms = step_ms;
            row.elapsed_s = all_s * static_cast<double>(row.step);
        };
    };
    const MadeRecord a(500, jittered(1.0, 0.05, 1), made(2, 0.004));
    const MadeRecord b(500, jittered(1.0, 0.05, 2), made(2.5, 0.0032));
    const Verdict verdict = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_THAT(verdict.details(), StartsWith("20 % slower, the same memory. "));
    EXPECT_THAT(verdict.details(), HasSubstr("over steps 11 to 500. Mean speed, over all "
                                             "steps: 20,000 against 16,000."));
    const MadeRecord slow(500, jittered(1.0, 0.05, 2), made(2.5, 0.005));
    EXPECT_THAT(judge(figures("fp32", a), figures("amp-fp16", slow)).details(),
                Not(HasSubstr("over all steps")));
}

TEST(Verdict, ClaimsNoDifferenceInSpeedWithinTheNoise) {
    const auto noisy = [](unsigned seed) {
        return [noise = jittered(3, 0.8, seed)](StepRecord& row) mutable {
            row.step_ms = static_cast<float>(std::max(0.5, noise(row.step)));
        };
    };
    const MadeRecord a(500, jittered(1.0, 0.05, 1), noisy(3));
    const MadeRecord b(500, jittered(1.0, 0.05, 2), noisy(4));
    const Verdict verdict = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_THAT(verdict.details(), StartsWith("No clear difference in speed, the same memory."));
    EXPECT_THAT(verdict.details(), HasSubstr("95 % interval 0.9"));
}

TEST(Verdict, ClaimsTheLeastDifferenceInSpeedWhereTheIntervalIsWide) {
    const auto disturbed = [](StepRecord& row) { row.step_ms = row.step / 40 % 2 == 0 ? 5 : 10; };
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.0, 0.05, 2), disturbed);
    EXPECT_THAT(judge(figures("fp32", a), figures("amp-fp16", b)).details(),
                StartsWith("At least 60 % slower, the same memory."));
    EXPECT_THAT(judge(figures("fp32", b), figures("amp-fp16", a)).details(),
                StartsWith("At least 2.5× as fast, the same memory."));
}

TEST(Verdict, CallsTheSpeedByWhatOneSampleIs) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.0, 0.05, 2), halved);
    RunFigures other = figures("amp-fp16", b);
    other.unit = "rows";
    EXPECT_THAT(judge(figures("fp32", a), other).details(),
                HasSubstr("64,000 rows/s against 32,000"));
    other.unit = "tokens";
    EXPECT_THAT(judge(figures("fp32", a), other).details(),
                HasSubstr("64,000 tokens/s against 32,000"));
}

TEST(Verdict, SaysThatTheSpeedOfACpuIsNotThatOfAGpu) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1));
    RunFigures run = figures("amp-fp16", a);
    EXPECT_THAT(judge(figures("fp32", a), run).details(), Not(HasSubstr("CPU")));
    run.device = "cpu";
    EXPECT_THAT(judge(figures("fp32", a), run).details(),
                HasSubstr("The speed of a CPU says nothing about the speed of a GPU."));
}

TEST(Verdict, CallsRunsThatEndedTheSameWithoutSoFar) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.003, 0.05, 2));
    RunFigures baseline = figures("fp32", a), other = figures("amp-fp16", b);
    baseline.ended = other.ended = true;
    EXPECT_EQ(judge(baseline, other).headline.str(), "No measurable difference.");
}

TEST(Verdict, GoesNoFurtherThanTheRowsThatAreOnScreen) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    const MadeRecord b(500, [](std::int64_t step) { return step >= 300 ? nan_value : 1.0; });
    RunFigures shown = figures("pure-fp16", b);
    EXPECT_EQ(judge(figures("fp32", a), shown).headline.str(),
              "Pure FP16 diverged (NaN at step 300).");
    shown.record = shown.record.up_to(299);
    EXPECT_EQ(judge(figures("fp32", a), shown).headline.str(), "Same result so far.");
}

TEST(Verdict, CallsASmallSteadyLagTheSameResultAndShowsItsShare) {
    const MadeRecord a(500, [](std::int64_t) { return 1.0; });
    const MadeRecord b(500, [](std::int64_t) { return 1.01; });
    const Verdict verdict = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Same result so far.");
    EXPECT_THAT(verdict.details(), HasSubstr("Losses 0.0100 apart, steadily but only 1 %"));
}

TEST(Verdict, NamesTheStepAtWhichARunParted) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    const MadeRecord b(500, [noise = jittered(1.0, 0.02, 2)](std::int64_t step) {
        return noise(step) + (step >= 31 ? 0.5 : 0.0);
    });
    const Verdict verdict = judge(figures("fp32", a), figures("pure-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Pure FP16 parted at step 31.");
    EXPECT_EQ(verdict.tone, VerdictTone::bad);
    EXPECT_THAT(verdict.details(), HasSubstr("step-to-step noise"));
}

TEST(Verdict, NamesLostUpdatesAsTheReason) {
    const auto lose = [](StepRecord& row) { row.lost_update_share = 0.93f; };
    const MadeRecord a(500, jittered(0.6, 0.02, 1)), b(500, jittered(1.9, 0.02, 2), lose);
    const Verdict verdict = judge(figures("fp32", a), figures("pure-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Pure FP16 parted at step 1.");
    EXPECT_THAT(verdict.details(),
                HasSubstr("Most updates (93 %) are smaller than half a "
                          "unit in the last place of the weights and vanish: losses 1.3"));
}

TEST(Verdict, SaysWhenTheOtherRunHasTheLowerLoss) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1)), b(500, jittered(0.8, 0.02, 2));
    const Verdict verdict = judge(figures("fp32", a), figures("amp-bf16", b));
    EXPECT_EQ(verdict.headline.str(), "AMP BF16 has the lower loss since step 1.");
}

TEST(Verdict, ReportsALossThatIsNoNumberAtOnce) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    const MadeRecord b(500, [](std::int64_t step) { return step >= 31 ? nan_value : 1.0; });
    RunFigures broken = figures("pure-fp16", b);
    broken.tests.clear();
    EXPECT_EQ(judge(figures("fp32", a), broken).headline.str(),
              "Pure FP16 diverged (NaN at step 31).");
    EXPECT_EQ(judge(broken, figures("fp32", a)).headline.str(),
              "Pure FP16 diverged (NaN at step 31).");
    const Verdict both = judge(broken, broken);
    EXPECT_EQ(both.headline.str(), "Both runs diverged (NaN at steps 31, 31).");
    const MadeRecord c(500, [](std::int64_t step) {
        return step >= 20 ? std::numeric_limits<double>::infinity() : 1.0;
    });
    EXPECT_EQ(judge(figures("fp32", c), broken).headline.str(),
              "Both runs diverged (∞, NaN at steps 20, 31).");
}

TEST(Verdict, MeasuresBySeedsWhereSeveralRan) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1)), b(500, jittered(1.5, 0.02, 2), halved);
    RunFigures baseline = figures("fp32", a, 0.880), other = figures("amp-fp16", b, 0.875);
    baseline.seed_noise = other.seed_noise = 0.004;  // two runs: 2 * sqrt(2) * 0.4 points
    const Verdict same = judge(baseline, other);
    EXPECT_EQ(same.headline.str(), "No difference beyond seed noise.");
    EXPECT_EQ(same.tone, VerdictTone::good);
    EXPECT_EQ(
        same.details(),
        "2.0× as fast, 50 % less memory. Test accuracies 0.5 points apart, seed noise 1.13 points. "
        "Typical speed: 64,000 samples/s against 32,000, over steps 11 to 500. Speed ratio, step by "
        "step: 2.00, 95 % interval 2.00 to 2.00 (16 blocks of steps). Peak memory 524 KB "
        "against 1.05 MB. AMP FP16 pays off: a step takes 1.00 ms instead of 2.00 ms.");

    other.tests = {{500, classified(0.3, 0.86)}};
    EXPECT_EQ(judge(baseline, other).headline.str(), "AMP FP16 is worse by 2 points.");
    EXPECT_EQ(judge(baseline, other).tone, VerdictTone::bad);
    other.tests = {{500, classified(0.3, 0.90)}};
    EXPECT_EQ(judge(baseline, other).headline.str(), "AMP FP16 is better by 2 points.");
}

const Metric price_rmse{.key = "rmse", .title = "RMSE", .unit = "price", .higher_is_better = false};

/// Runs of a task with this metric, each evaluated once, over several seeds.
std::pair<RunFigures, RunFigures> seeded(const MadeRecord& record, const Metric& metric,
                                         double baseline, double other, double noise) {
    std::pair<RunFigures, RunFigures> runs{figures("fp32", record), figures("amp-fp16", record)};
    runs.first.tests = {{500, {0.3, {{metric.key, baseline}}}}};
    runs.second.tests = {{500, {0.3, {{metric.key, other}}}}};
    for (RunFigures* run : {&runs.first, &runs.second}) {
        run->metric = metric;
        run->seed_noise = noise;
    }
    return runs;
}

TEST(Verdict, TellsDifferencesOfMetricsThatAreNoSharesInPerCent) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    const auto [baseline, worse] = seeded(a, price_rmse, 200, 230, 1);
    EXPECT_EQ(judge(baseline, worse).headline.str(), "AMP FP16 is worse by 15 %.");
    EXPECT_EQ(judge(baseline, worse).tone, VerdictTone::bad);
    EXPECT_THAT(judge(baseline, worse).details(),
                HasSubstr("RMSE on the test part: 15 % apart, seed noise 1.41 %."));
    EXPECT_EQ(judge(worse, baseline).headline.str(), "FP32 is better by 13 %.");
    const auto [same, also] = seeded(a, price_rmse, 200, 201, 1);
    EXPECT_EQ(judge(same, also).headline.str(), "No difference beyond seed noise.");
}

TEST(Verdict, GoesByTheLossWhereATaskHasNoMetric) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    auto [baseline, other] = seeded(a, {}, 0, 0, 0.001);
    baseline.tests = {{500, {0.5, {}}}};
    other.tests = {{500, {0.6, {}}}};
    EXPECT_EQ(judge(baseline, other).headline.str(), "AMP FP16 is worse by 20 %.");
    EXPECT_THAT(judge(baseline, other).details(), HasSubstr("Loss on the test part: 20 % apart"));
    EXPECT_EQ(judge(other, baseline).headline.str(), "FP32 is better by 16.7 %.");
}

TEST(Verdict, ComparesTheLastEvaluationsOfBothAfterTheSameStep) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    RunFigures baseline = figures("fp32", a), other = figures("amp-fp16", a);
    baseline.tests = {{100, classified(0.3, 0.4)},
                      {200, classified(0.3, 0.5)},
                      {300, classified(0.3, 0.9)}};
    other.tests = {{200, classified(0.3, 0.5)}, {250, classified(0.3, 0.2)}};
    baseline.seed_noise = 0.001;
    EXPECT_THAT(judge(baseline, other).details(), HasSubstr("accuracies 0 points apart"));
    other.tests = {{250, classified(0.3, 0.2)}};
    EXPECT_THAT(judge(baseline, other).details(), HasSubstr("step-to-step noise"))
        << "no step in common";
}

TEST(Verdict, ARunWithoutAnEvaluatedEpochHasNoTest) {
    EpochDone epoch{"1", 1, 20, {}, {}, unknown_figures(classification_metrics()), 1};
    epoch.evaluated = false;
    JudgedEvents events;
    events.apply(epoch);
    EXPECT_TRUE(events.figures({}).tests.empty());
    epoch.evaluated = true;  // there is no test part
    events.apply(epoch);
    EXPECT_EQ(events.figures({}).tests.size(), 1u);
}

TEST(Verdict, UsesTheSpreadOverStepsInRegression) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    RunFigures baseline = figures("fp32", a, nan_value), other = figures("amp-fp16", a, nan_value);
    baseline.seed_noise = other.seed_noise = 0.01;
    EXPECT_THAT(judge(baseline, other).details(), HasSubstr("step-to-step noise"));
}

TEST(Verdict, SaysOfAMixedRunWhetherItPays) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.0, 0.05, 2), halved);
    const Verdict pays = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_EQ(pays.speedup.str(), "AMP FP16 pays off: a step takes 1.00 ms instead of 2.00 ms.");
    EXPECT_TRUE(pays.speedup_explained);
    EXPECT_THAT(pays.details(), HasSubstr(pays.speedup.str()));
    const Verdict not_faster = judge(figures("fp32", b), figures("amp-fp16", a));
    EXPECT_THAT(not_faster.details(), HasSubstr("AMP FP16 does not pay off: it is no faster"));
    EXPECT_THAT(not_faster.details(), testing::Not(HasSubstr("times FP32's speed")))
        << "the cost alone says how fast";
    EXPECT_FALSE(not_faster.speedup_explained) << "these records have no parts of steps";
    EXPECT_TRUE(judge(figures("fp32", a), figures("fp32", b)).speedup.empty());
}

TEST(Verdict, DoesNotCompareDifferentTasks) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1)), b(500, jittered(3.0, 0.02, 2));
    RunFigures baseline = figures("fp32", a), other = figures("amp-fp16", b);
    baseline.task = "regression";
    other.task = "language_model";
    const Verdict verdict = judge(baseline, other);
    EXPECT_EQ(verdict.headline.str(), "Different tasks: not compared.");
    EXPECT_EQ(verdict.tone, VerdictTone::neutral);
    EXPECT_TRUE(verdict.cost.empty());
    other.task.clear();
    EXPECT_EQ(judge(baseline, other).headline.str(), "AMP FP16 parted at step 1.");
}

TEST(Verdict, NamesDifferentDataAndStepsAndIsNotPleasedByThem) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(400, jittered(1.0, 0.05, 2));
    RunFigures baseline = figures("fp32", a), other = figures("amp-fp16", b);
    baseline.data = "glyphs";
    other.data = "cifar10";
    const Verdict verdict = judge(baseline, other);
    EXPECT_EQ(verdict.tone, VerdictTone::neutral);
    ASSERT_GE(verdict.evidence.size(), 2U);
    EXPECT_EQ(verdict.evidence[0].str(), "Different data: glyphs and cifar10.");
    EXPECT_EQ(verdict.evidence[1].str(),
              "Different numbers of steps, 500 and 400: the first 400 are compared.");
    other.data = baseline.data;
    other.record = a.reader();
    EXPECT_THAT(judge(baseline, other).details(), Not(HasSubstr("Different")));
    other.record = a.reader().up_to(499);
    EXPECT_THAT(judge(baseline, other).details(), Not(HasSubstr("Different")))
        << "runs that train side by side are a step apart";
    baseline.data_settings = "all";
    other.data_settings = "the first 100";
    EXPECT_THAT(judge(baseline, other).details(), HasSubstr("settings of the data set differ"));
}

TEST(Verdict, SaysThatSpeedsOfRunsOneAfterTheOtherAreNotCompared) {
    const MadeRecord a(500, jittered(1.0, 0.05, 1)), b(500, jittered(1.0, 0.05, 2), halved);
    RunFigures other = figures("amp-fp16", b);
    other.turns = "later";
    const Verdict verdict = judge(figures("fp32", a), other);
    EXPECT_THAT(verdict.details(), StartsWith("Speeds not compared, 50 % less memory."));
    EXPECT_THAT(verdict.details(), HasSubstr("not measured in turns"));
    EXPECT_THAT(verdict.details(), Not(HasSubstr("samples/s")));
    EXPECT_TRUE(verdict.speedup.empty());
}

TEST(Verdict, JudgesAPartOfTheStepsAlone) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    const MadeRecord b(500, [noise = jittered(1.0, 0.02, 2)](std::int64_t step) {
        return noise(step) + (step >= 31 && step <= 400 ? 0.5 : 0.0);
    });
    RunFigures baseline = figures("fp32", a), other = figures("amp-fp16", b);
    other.first_step = 401;
    EXPECT_EQ(judge(baseline, other).headline.str(), "Same result so far.");
    other.first_step = 301;
    other.record = other.record.up_to(400);
    EXPECT_EQ(judge(baseline, other).headline.str(), "AMP FP16 parted at step 301.");
    const MadeRecord c(500, [](std::int64_t step) { return step >= 31 ? nan_value : 1.0; });
    RunFigures broken = figures("pure-fp16", c);
    broken.first_step = 100;
    EXPECT_EQ(judge(baseline, broken).headline.str(), "Pure FP16 diverged (NaN at step 100).");
}

TEST(Verdict, TakesWhatItComparesFromTheStartOfARun) {
    RunStarted started{};
    started.config.dataset.kind = "spirals";
    started.config.precision.preset = "amp-bf16";
    started.task = "classification";
    started.turns = "together";
    started.first_step = 41;
    const RunFigures figures = figures_of(started);
    EXPECT_EQ(figures.precision, "amp-bf16");
    EXPECT_EQ(figures.data, "spirals");
    EXPECT_EQ(figures.turns, "together");
    EXPECT_EQ(figures.in_turns_from, 41);
    RunStarted fewer = started;
    fewer.config.dataset.train_limit = 10;
    EXPECT_NE(figures_of(fewer).data_settings, figures.data_settings);
    fewer = started;
    fewer.config.seed = 7;
    EXPECT_EQ(figures_of(fewer).data_settings, figures.data_settings);
}

}  // namespace
}  // namespace engine
