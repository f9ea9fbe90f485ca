#include "engine/verdict/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "amp/scale_rule.h"
#include "engine/base/error.h"
#include "made_record.h"
#include "resume_support.h"
#include "support/device_support.h"
#include "support/expectations.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

ScalePolicy dynamic(const ScalerConfig& scaler) { return {"test", ScalerMode::dynamic, scaler}; }
ScalePolicy constant(double scale) {
    ScalerConfig scaler;
    scaler.init_scale = scale;
    return {"static", ScalerMode::constant, scaler};
}

/// A record of the production policy. `change` sets the figures of a step; its scale follows the
/// policy.
class ScaledRecord {
public:
    ScaledRecord(std::int64_t steps, const ScalerConfig& scaler,
                 const std::function<void(StepRecord&)>& change)
        : rule_({.init_scale = scaler.init_scale,
                 .growth_factor = scaler.growth_factor,
                 .backoff_factor = scaler.backoff_factor,
                 .growth_interval = scaler.growth_interval,
                 .enabled = true,
                 .min_scale = scaler.min_scale,
                 .max_scale = scaler.max_scale,
                 .hysteresis = static_cast<int>(scaler.hysteresis),
                 .overflow_resets = true}),
          made_(
              steps, [](std::int64_t) { return 1.0; },
              [&](StepRecord& row) {
                  row.loss_scale = rule_.loss_scale();
                  row.scale_ceiling = unknown;
                  row.f16_zero_share = row.grad_zero_share = unknown;
                  row.grad_norm = 1;
                  change(row);
                  rule_.update(row.found_inf != 0);
              }) {}
    ReplayedRecord record() const { return {.record = made_.reader()}; }

private:
    ScaleRule rule_;
    MadeRecord made_;
};

/// Expects that the replayed scale is that of the record.
void expect_recorded(const WhatIf& replayed, const StepRecordReader& record) {
    ASSERT_EQ(replayed.steps, record.size());
    std::int64_t step = 0;
    for (const ScaleStair& stair : replayed.stairs) {
        EXPECT_EQ(stair.first_step, step + 1);
        for (std::int64_t i = 0; i < stair.steps; ++i, ++step) {
            const StepRecord row = record.row(step);
            ASSERT_EQ(stair.scale, row.loss_scale) << "step " << step + 1;
            ASSERT_EQ(stair.outcome == ReplayedStep::skipped, row.found_inf != 0) << step + 1;
        }
    }
    EXPECT_EQ(step, record.size());
    EXPECT_EQ(replayed.parts_at, 0);
    EXPECT_EQ(replayed.unknown, 0);
}

TEST(WhatIf, ThePolicyOfTheRunReproducesItsStaircaseWhateverTheSettings) {
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        SCOPED_TRACE(round);
        ScalerConfig scaler;
        scaler.init_scale = std::exp2(random() % 20);
        scaler.growth_interval = 1 + static_cast<std::int64_t>(random() % 30);
        scaler.backoff_factor = random() % 2 == 0 ? 0.5 : 0.3;
        scaler.growth_factor = random() % 2 == 0 ? 2 : 1.5;
        scaler.hysteresis = 1 + static_cast<std::int64_t>(random() % 3);
        scaler.max_scale = random() % 2 == 0 ? 0 : scaler.init_scale * 4;
        const ScaledRecord made(500, scaler, [&](StepRecord& row) {
            row.found_inf = random() % 9 == 0 ? 1 : 0;
            if (random() % 50 == 0) row.loss = unknown;
        });
        expect_recorded(replay(made.record(), dynamic(scaler)), made.record().record);
    }
}

TEST(WhatIf, AnotherScaleOverflowsBeyondTheCeilingAndNotBelowIt) {
    // The maximum is 65504 * 8 / 8188 = 64: the largest scaled f16 gradient was 8188 at scale 8.
    const ScaledRecord made(3, ScalerConfig{.init_scale = 8},
                            [](StepRecord& row) { row.scale_ceiling = 64; });
    const auto outcome = [&](double scale) {
        return replay(made.record(), constant(scale)).stairs.front().outcome;
    };
    EXPECT_EQ(outcome(1), ReplayedStep::applied);
    EXPECT_EQ(outcome(64), ReplayedStep::applied);
    EXPECT_EQ(outcome(64 * 65519.0 / 65504), ReplayedStep::applied) << "still rounds to 65504";
    EXPECT_EQ(outcome(64 * 65521.0 / 65504), ReplayedStep::broken) << "a static scaler never skips";
    const WhatIf above = replay(made.record(), dynamic(ScalerConfig{.init_scale = 256}));
    ASSERT_EQ(above.stairs.size(), 3u) << "256 and 128 overflow, 64 does not";
    EXPECT_EQ(above.stairs[0].outcome, ReplayedStep::skipped);
    EXPECT_EQ(above.stairs[1].scale, 128);
    EXPECT_EQ(above.stairs[1].outcome, ReplayedStep::skipped);
    EXPECT_EQ(above.stairs[2].outcome, ReplayedStep::applied);
    EXPECT_EQ(above.skipped, 2);
    EXPECT_EQ(above.updates(), 1);
    EXPECT_EQ(above.parts_at, 1);
    EXPECT_EQ(above.lowest, 64);
    EXPECT_EQ(above.highest, 256);
    EXPECT_EQ(above.last, 64);
}

TEST(WhatIf, AnOverflowedStepIsSkippedAtLargerScalesAndUnknownAtSmallerOnes) {
    const ScaledRecord made(4, ScalerConfig{.init_scale = 1024}, [](StepRecord& row) {
        row.found_inf = row.step == 1 ? 1 : 0;
        row.scale_ceiling = row.step == 1 ? unknown : 700;
    });
    const WhatIf larger = replay(made.record(), dynamic(ScalerConfig{.init_scale = 2048}));
    EXPECT_EQ(larger.stairs.front().outcome, ReplayedStep::skipped);
    EXPECT_EQ(larger.unknown, 0);
    const WhatIf smaller = replay(made.record(), dynamic(ScalerConfig{.init_scale = 512}));
    EXPECT_EQ(smaller.stairs.front().outcome, ReplayedStep::unknown_applied)
        << "the next step that knows its ceiling, 700, would have taken 512";
    EXPECT_EQ(smaller.unknown, 1);
    EXPECT_EQ(smaller.skipped, 0);
    const WhatIf between = replay(made.record(), dynamic(ScalerConfig{.init_scale = 900}));
    EXPECT_EQ(between.stairs.front().outcome, ReplayedStep::unknown_skipped);
    EXPECT_EQ(between.skipped, 1);
}

TEST(WhatIf, WithoutACeilingALargerScaleIsUnknownAndASmallerOneIsNot) {
    const ScaledRecord made(2, ScalerConfig{.init_scale = 1024}, [](StepRecord&) {});
    EXPECT_EQ(replay(made.record(), constant(512)).unknown, 0);
    const WhatIf larger = replay(made.record(), constant(2048));
    EXPECT_EQ(larger.unknown, 2);
    EXPECT_EQ(larger.breaks_at, 0) << "not known to break";
}

TEST(WhatIf, ALossThatIsNotFiniteIsSkippedByEveryDynamicPolicyAndBreaksTheOthers) {
    const ScaledRecord made(9, ScalerConfig{}, [](StepRecord& row) {
        row.scale_ceiling = 0x1p30f;
        if (row.step != 5) return;
        row.found_inf = 1;
        row.loss = unknown;
        row.scale_ceiling = unknown;
    });
    for (const ScalePolicy& policy : usual_policies()) {
        SCOPED_TRACE(policy.name);
        const WhatIf replayed = replay(made.record(), policy);
        const bool skips = policy.mode == ScalerMode::dynamic;
        EXPECT_EQ(replayed.skipped, skips ? 1 : 0);
        EXPECT_EQ(replayed.breaks_at, skips ? 0 : 5);
        EXPECT_EQ(replayed.unknown, 0);
    }
}

TEST(WhatIf, ARunWithoutADynamicScalerTellsOverflowsByItsGradients) {
    const ScaledRecord made(3, ScalerConfig{.init_scale = 4096}, [](StepRecord& row) {
        row.loss_scale = 4096;
        row.grad_norm = row.step == 2 ? std::numeric_limits<float>::infinity() : 1;
        row.scale_ceiling = row.step == 2 ? unknown : 8192;
    });
    ReplayedRecord record = made.record();
    record.checked = false;
    EXPECT_EQ(replay(record, constant(4096)).breaks_at, 2);
    EXPECT_EQ(replay(record, dynamic(ScalerConfig{.init_scale = 4096})).skipped, 1);
}

TEST(WhatIf, BoundsTheShareOfGradientsThatAreLost) {
    // 5 % are 0 in fp16 at scale 1024, of which 2 % are 0 in any case.
    const ScaledRecord made(4, ScalerConfig{.init_scale = 1024}, [](StepRecord& row) {
        row.f16_zero_share = 0.05f;
        row.grad_zero_share = 0.02f;
        row.scale_ceiling = 1e9f;
    });
    const auto lost = [&](double scale) { return replay(made.record(), constant(scale)); };
    EXPECT_NEAR(lost(1024).lost_at_least, 0.03, 1e-6);
    EXPECT_NEAR(lost(1024).lost_at_most, 0.03, 1e-6);
    EXPECT_EQ(lost(4096).lost_at_least, 0);
    EXPECT_NEAR(lost(4096).lost_at_most, 0.03, 1e-6);
    EXPECT_NEAR(lost(256).lost_at_least, 0.03, 1e-6);
    EXPECT_TRUE(std::isnan(lost(256).lost_at_most));
}

TEST(WhatIf, CountsTheStepsBelowTheFloorWhereItIsKnown) {
    const ScaledRecord made(100, ScalerConfig{}, [](StepRecord& row) { row.scale_ceiling = 1e9f; });
    ReplayedRecord record = made.record();
    record.floors = [](std::int64_t first, std::span<double> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const std::int64_t step = first + static_cast<std::int64_t>(i) + 1;
            out[i] = step % 10 != 0 ? std::nan("") : step <= 50 ? 100.0 : 5000.0;
        }
    };
    const WhatIf replayed = replay(record, constant(1024));
    EXPECT_EQ(replayed.floors, 10);
    EXPECT_EQ(replayed.below_floor, 5) << "steps 60 to 100";
}

TEST(WhatIf, AnEmptyRecordAndRefusedNumbers) {
    const ScaledRecord made(0, ScalerConfig{}, [](StepRecord&) {});
    const WhatIf replayed = replay(made.record(), dynamic({}));
    EXPECT_EQ(replayed.steps, 0);
    EXPECT_TRUE(replayed.stairs.empty());
    EXPECT_THAT(what_if_sentence(replayed, replayed).str(), HasSubstr("no steps"));
    const std::string wrong = message_of(ErrorCode::value, [&] {
        replay(made.record(), dynamic(ScalerConfig{.growth_factor = 1}));
    });
    EXPECT_THAT(wrong, HasSubstr("scaler.growth_factor"));
}

TEST(WhatIf, AMillionStepsTakeWellUnderASecondAndFewStairs) {
    constexpr std::int64_t steps = 1'000'000;
    const ScaledRecord made(steps, ScalerConfig{}, [](StepRecord& row) {
        row.scale_ceiling = 0x1p40f;
        row.found_inf = row.step % 5000 == 0 ? 1 : 0;
    });
    const std::clock_t start = std::clock();
    const WhatIf replayed = replay(made.record(), constant(1024));
    EXPECT_EQ(replayed.steps, steps);
    EXPECT_EQ(replayed.unknown, 200) << "skipped at a larger scale, the maximum lost";
    EXPECT_LE(replayed.stairs.size(), 401u);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_LT(seconds, 1.0) << "processor time";
}

/// Trained runs with skips. Replaying their own policy must reproduce the record exactly.
class RecordedRuns : public test::ResumedRuns {};

TEST_F(RecordedRuns, AreReproducedExactly) {
    for (const char* preset : {"production", "classroom"}) {
        SCOPED_TRACE(preset);
        RunConfig config = test::small_run("mlp", "amp-fp16");
        for (const auto& change :
             {std::string("scaler.preset=") + preset, std::string("scaler.init_scale=16777216"),
              std::string("max_steps=120"), std::string("epochs=50")}) {
            const auto parsed = parse_run_config(to_json(config), {change});
            ASSERT_THAT(parsed.errors, testing::IsEmpty());
            config = parsed.config;
        }
        config.scaler.growth_interval = std::string(preset) == "classroom" ? 5 : 2000;
        const test::Ended run = train(config);
        ASSERT_EQ(run.record.size(), 120);
        const WhatIf replayed = replay({.record = run.record}, to_policy(config, "recorded"));
        EXPECT_GT(replayed.skipped, 0) << "a scale of 2^24 overflows";
        expect_recorded(replayed, run.record);
    }
}

TEST(WhatIfText, TheTableAndTheLineHoldWhatWasFound) {
    const ScaledRecord made(3, ScalerConfig{.init_scale = 8},
                            [](StepRecord& row) { row.scale_ceiling = 64; });
    const WhatIf replayed = replay(made.record(), dynamic(ScalerConfig{.init_scale = 128}));
    const auto object =
        nlohmann::json::parse(to_json_line("7", replayed, what_if_sentence(replayed, replayed)));
    EXPECT_EQ(object.at("run"), "7");
    EXPECT_EQ(object.at("skipped"), 1);
    EXPECT_EQ(object.at("scaler"), "dynamic");
    EXPECT_EQ(object.at("stairs"),
              nlohmann::json::parse(R"([[1,1,128.0,"skipped"],[2,2,64.0,"applied"]])"));
    EXPECT_EQ(object.at("lost_at_least"), "nan");
    const std::string table = what_if_table({replayed});
    EXPECT_THAT(table, HasSubstr("2⁷"));
    EXPECT_THAT(table, HasSubstr("2⁶"));
}

TEST(WhatIfText, TheConclusionNamesTheDynamicPolicyThatSkipsLeast) {
    const ScaledRecord made(30, ScalerConfig{.init_scale = 1024}, [](StepRecord& row) {
        row.found_inf = row.loss_scale > 300 ? 1 : 0;
        row.scale_ceiling = row.found_inf != 0 ? unknown : 300;
    });
    const WhatIf own = replay(made.record(), dynamic(ScalerConfig{.init_scale = 1024}));
    EXPECT_EQ(own.skipped, 2) << "at 1024 and 512";
    WhatIf low = replay(made.record(), dynamic(ScalerConfig{.init_scale = 64}));
    low.policy.name = "low";
    const WhatIf high = replay(made.record(), dynamic(ScalerConfig{.init_scale = 4096}));
    EXPECT_EQ(high.skipped, 4);
    EXPECT_THAT(what_if_conclusion({own, high, low}).str(), HasSubstr("low would have skipped 0"));
    EXPECT_THAT(what_if_conclusion({own, high, high}).str(), HasSubstr("No dynamic policy"));
}

}  // namespace
}  // namespace engine
