#include "engine/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "made_record.h"

namespace engine {
namespace {

using testing::HasSubstr;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// A run that was evaluated once.
RunFigures figures(const std::string& precision, const MadeRecord& record, double accuracy = 0.9) {
    return {precision, record.reader(), {0.3}, {accuracy}, 0};
}

/// Twice as fast in half the memory.
void halved(StepRecord& row) {
    row.step_ms = 1;
    row.peak_bytes = 1 << 19;
}

TEST(Verdict, IsTooEarlyBeforeBothHaveATestEvaluation) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1)), b(500, jittered(1.5, 0.02, 2));
    const RunFigures evaluated = figures("fp32", a);
    RunFigures not_yet = figures("amp-fp16", b);
    not_yet.test_losses.clear();
    not_yet.test_accuracies.clear();
    for (const auto& verdict : {judge(evaluated, not_yet), judge(not_yet, evaluated)}) {
        EXPECT_EQ(verdict.headline.str(), "Too early to say.");
        EXPECT_EQ(verdict.tone, VerdictTone::neutral);
        EXPECT_THAT(verdict.evidence.str(), HasSubstr("After 500 steps the losses are 0.5"));
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
    EXPECT_THAT(verdict.evidence.str(), HasSubstr("noise over steps 0.1"));
    EXPECT_THAT(verdict.evidence.str(), HasSubstr("(one seed ran)"));
    EXPECT_THAT(verdict.evidence.str(),
                HasSubstr("AMP FP16 is 2.00× as fast in 0.50× the memory."));
}

TEST(Verdict, GivesNoSpeedForARunOfAFewSteps) {
    const MadeRecord a(16, jittered(1.0, 0.05, 1)), b(16, jittered(1.0, 0.05, 2), halved);
    const Verdict verdict = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Same result so far.");
    EXPECT_EQ(verdict.evidence.str().find("as fast"), std::string::npos);
}

TEST(Verdict, CallsASmallSteadyLagTheSameResultAndShowsItsShare) {
    const MadeRecord a(500, [](std::int64_t) { return 1.0; });
    const MadeRecord b(500, [](std::int64_t) { return 1.01; });
    const Verdict verdict = judge(figures("fp32", a), figures("amp-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Same result so far.");
    EXPECT_THAT(verdict.evidence.str(), HasSubstr("Losses 0.01 apart, steadily but only 1 %"));
}

TEST(Verdict, NamesTheStepAtWhichARunParted) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    const MadeRecord b(500, [noise = jittered(1.0, 0.02, 2)](std::int64_t step) {
        return noise(step) + (step >= 31 ? 0.5 : 0.0);
    });
    const Verdict verdict = judge(figures("fp32", a), figures("pure-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Pure FP16 parted at step 31.");
    EXPECT_EQ(verdict.tone, VerdictTone::bad);
    EXPECT_THAT(verdict.evidence.str(), HasSubstr("noise over steps"));
}

TEST(Verdict, NamesLostUpdatesAsTheReason) {
    const auto lose = [](StepRecord& row) { row.lost_update_share = 0.93f; };
    const MadeRecord a(500, jittered(0.6, 0.02, 1)), b(500, jittered(1.9, 0.02, 2), lose);
    const Verdict verdict = judge(figures("fp32", a), figures("pure-fp16", b));
    EXPECT_EQ(verdict.headline.str(), "Pure FP16 parted at step 1.");
    EXPECT_THAT(verdict.evidence.str(), HasSubstr("Most updates (93 %) are smaller than half a "
                                                  "unit of the weights and vanish: losses 1.3"));
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
    broken.test_losses.clear();
    broken.test_accuracies.clear();
    EXPECT_EQ(judge(figures("fp32", a), broken).headline.str(), "Pure FP16 parted at step 31.");
    EXPECT_EQ(judge(broken, figures("fp32", a)).headline.str(), "Pure FP16 parted at step 31.");
    const Verdict both = judge(broken, broken);
    EXPECT_EQ(both.headline.str(), "Neither run learns any more.");
    EXPECT_THAT(both.evidence.str(), HasSubstr("since steps 31 and 31."));
}

TEST(Verdict, MeasuresBySeedsWhereSeveralRan) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1)), b(500, jittered(1.5, 0.02, 2), halved);
    RunFigures baseline = figures("fp32", a, 0.880), other = figures("amp-fp16", b, 0.875);
    baseline.seed_noise = other.seed_noise = 0.004;  // two runs: 2 * sqrt(2) * 0.4 points
    const Verdict same = judge(baseline, other);
    EXPECT_EQ(same.headline.str(), "No difference beyond seed noise.");
    EXPECT_EQ(same.tone, VerdictTone::good);
    EXPECT_EQ(
        same.evidence.str(),
        "Test accuracies 0.5 points apart, noise over seeds 1.13 points. AMP FP16 is 2.00× as "
        "fast in 0.50× the memory.");

    other.test_accuracies = {0.86};
    EXPECT_EQ(judge(baseline, other).headline.str(), "AMP FP16 is worse by 2 points.");
    EXPECT_EQ(judge(baseline, other).tone, VerdictTone::bad);
    other.test_accuracies = {0.90};
    EXPECT_EQ(judge(baseline, other).headline.str(), "AMP FP16 is better by 2 points.");
}

TEST(Verdict, ComparesTheSameEvaluationOfBoth) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    RunFigures baseline = figures("fp32", a), other = figures("amp-fp16", a);
    baseline.test_accuracies = {0.5, 0.9};
    other.test_accuracies = {0.5};
    baseline.seed_noise = 0.001;
    EXPECT_THAT(judge(baseline, other).evidence.str(), HasSubstr("accuracies 0 points apart"));
}

TEST(Verdict, UsesTheSpreadOverStepsInRegression) {
    const MadeRecord a(500, jittered(1.0, 0.02, 1));
    RunFigures baseline = figures("fp32", a, nan_value), other = figures("amp-fp16", a, nan_value);
    baseline.seed_noise = other.seed_noise = 0.01;
    EXPECT_THAT(judge(baseline, other).evidence.str(), HasSubstr("noise over steps"));
}

}  // namespace
}  // namespace engine
