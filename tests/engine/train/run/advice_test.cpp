#include "train/run/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "train/run/run_alerts.h"

namespace engine {
namespace {

using testing::HasSubstr;
using testing::Not;

RunConfig preset(const std::string& name, ClipKind clip = ClipKind::none) {
    RunConfig config = completed(RunConfig{});
    config.precision.preset = name;
    config.clip.kind = clip;
    config.stop_on_nan = 3;
    return config;
}

/// Advice of the run's last error after `finite` finite steps, of which `applied` were applied.
std::string hint_of(const RunConfig& config, std::int64_t finite, std::int64_t applied) {
    RunAlerts alerts(config, [](const Event&) {});
    try {
        for (std::int64_t step = 1; step <= finite + config.stop_on_nan; ++step) {
            CompletedStep done{};
            done.row.step = step;
            done.row.loss = step <= finite ? 1.0f : std::numeric_limits<float>::quiet_NaN();
            done.row.updates = std::min(step, applied);
            done.row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
            done.next_loss_scale = 1;
            done.row.loss_scale = 1;
            alerts.on_step(done);
        }
    } catch (const Error& error) {
        return error.hint().str();
    }
    return "";
}

TEST(Advice, NamesNoRateBeforeTheFirstUpdate) {
    for (const char* fp16 : {"amp-fp16", "o2-fp16", "pure-fp16"})
        EXPECT_EQ(hint_of(preset(fp16), 0, 0), forward_overflow_advice().str()) << fp16;
    for (const char* wide : {"fp32", "amp-bf16"}) {
        // Without a scaler each step counts as applied.
        EXPECT_EQ(hint_of(preset(wide), 0, 100), non_finite_input_advice().str()) << wide;
    }
    EXPECT_THAT(hint_of(preset("amp-fp16"), 5, 0), HasSubstr("Bring the inputs"));
}

TEST(Advice, OfARunThatDivergesIsTheRateAndTheClippingThatIsNotThereYet) {
    EXPECT_THAT(hint_of(preset("fp32"), 5, 100), HasSubstr("clip the gradients"));
    const std::string clipped = hint_of(preset("fp32", ClipKind::norm), 5, 100);
    EXPECT_THAT(clipped, HasSubstr("Lower optimizer.lr or clip.value."));
    EXPECT_THAT(clipped, Not(HasSubstr("clip the gradients")));
    EXPECT_EQ(hint_of(preset("amp-fp16"), 5, 4), divergence_advice(preset("amp-fp16")).str());
}

/// The last warning of an epoch of two steps that were skipped; `loss`: of both.
std::string warning_of_an_idle_epoch(const RunConfig& config, float loss) {
    std::string text;
    RunAlerts alerts(config, [&](const Event& event) {
        if (const auto* warning = std::get_if<RunWarning>(&event)) text = warning->message.text;
    });
    for (std::int64_t step = 1; step <= 3; ++step) {
        CompletedStep done{};
        done.row.step = step;
        done.row.epoch = step <= 2 ? 1 : 2;
        done.row.loss = loss;
        done.row.found_inf = 1;
        done.row.loss_scale = 1024;
        done.row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
        done.next_loss_scale = 512;
        alerts.on_step(done);
    }
    return text;
}

TEST(Advice, OfAnIdleEpochIsThatOfItsCause) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    RunConfig fp16 = preset("amp-fp16"), fp32 = preset("fp32");
    fp16.stop_on_nan = fp32.stop_on_nan = 0;
    EXPECT_THAT(warning_of_an_idle_epoch(fp16, nan),
                testing::EndsWith(" " + forward_overflow_advice().text));
    EXPECT_THAT(warning_of_an_idle_epoch(fp32, nan),
                testing::EndsWith(" " + non_finite_input_advice().text));
    EXPECT_THAT(warning_of_an_idle_epoch(fp16, 1), HasSubstr("Lower scaler.init_scale"));
}

TEST(Advice, OfAScaleThatFellThroughItsFloorIsThatOfItsCause) {
    const auto hint = [](const RunConfig& config, float loss, double next) {
        RunAlerts alerts(config, [](const Event&) {});
        CompletedStep done{};
        done.row.step = 1;
        done.row.loss = loss;
        done.row.found_inf = 1;
        done.row.loss_scale = 1;
        done.row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
        done.next_loss_scale = static_cast<float>(next);
        try {
            alerts.on_step(done);
        } catch (const Error& error) {
            return error.hint().str();
        }
        return std::string();
    };
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    RunConfig config = preset("amp-fp16");
    EXPECT_EQ(hint(config, nan, 0), forward_overflow_advice().str());
    EXPECT_THAT(hint(config, 2, 0), HasSubstr("Lower the learning rate"));
    config.scaler.min_scale = 1;
    EXPECT_EQ(hint(config, nan, 0.5), forward_overflow_advice().str());
    EXPECT_THAT(hint(config, 2, 0.5), HasSubstr("Lower scaler.min_scale"));
}

/// Losses of steps, each applied; a NaN that follows ends them.
FaultCourse course_of(const RunConfig& config, const std::vector<float>& losses) {
    FaultCourse course(config);
    std::int64_t step = 0;
    for (const float loss : losses) {
        StepRecord row{};
        row.step = ++step;
        row.updates = std::isfinite(loss) ? step : step - 1;
        row.found_inf = std::isfinite(loss) ? 0 : 1;
        row.loss = loss;
        course.see(row);
    }
    return course;
}

TEST(FaultCourses, BlameTheRateOnlyWhereTheLossWasNotFalling) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const RunConfig fp16 = preset("amp-fp16"), fp32 = preset("fp32");
    const std::vector<float> falling = {2.3F, 2, 1.5F, nan, nan}, rising = {2.3F, 90, nan, nan};
    EXPECT_EQ(course_of(fp16, falling).advice().str(), forward_overflow_advice().str());
    EXPECT_EQ(course_of(fp16, rising).advice().str(), divergence_advice(fp16).str());
    EXPECT_EQ(course_of(fp32, falling).advice().str(), divergence_advice(fp32).str())
        << "FP32 has no narrower range to blame";
    EXPECT_TRUE(course_of(fp16, rising).grew());
    EXPECT_FALSE(course_of(fp16, falling).grew());
}

TEST(FaultCourses, OfAStaticScaleThatOverflowedIsTheScale) {
    RunConfig config = preset("amp-fp16");
    config.precision.scaler = ScalerMode::constant;
    FaultCourse course(config);
    StepRecord row{};
    row.step = row.updates = 1;
    row.loss = 2.3F;
    row.grad_norm = std::numeric_limits<float>::infinity();
    course.see(row);
    row.step = row.updates = 2;
    row.loss = std::numeric_limits<float>::quiet_NaN();
    course.see(row);
    EXPECT_EQ(course.advice().str(), "Lower the static scale or use a dynamic one.");
    EXPECT_EQ(course.advice().str(), applied_overflow_advice(config).str());
    EXPECT_EQ(static_scale_advice("2¹⁵").str(), "Lower the static scale to 2¹⁵ or use a dynamic one.");
}

TEST(Advice, AWarningWritesALossThatIsNoNumberAsThePagesDo) {
    RunConfig config = preset("amp-fp16");
    config.stop_on_nan = 0;
    std::string text;
    RunAlerts alerts(config, [&](const Event& event) {
        if (const auto* warning = std::get_if<RunWarning>(&event)) text = warning->message.str();
    });
    CompletedStep done{};
    done.row.step = 7;
    done.row.loss = std::numeric_limits<float>::quiet_NaN();
    done.row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
    done.row.loss_scale = 1;
    done.next_loss_scale = 1;
    alerts.on_step(done);
    EXPECT_THAT(text, HasSubstr("The loss is NaN at step 7"));
}

TEST(Advice, OfAnOverflowThatAStaticScalerAppliedComesAtThatStepOnce) {
    RunConfig config = preset("amp-fp16");
    config.precision.scaler = ScalerMode::constant;
    config.stop_on_nan = 0;
    std::vector<RunWarning> warnings;
    RunAlerts alerts(config, [&](const Event& event) {
        if (const auto* warning = std::get_if<RunWarning>(&event)) warnings.push_back(*warning);
    });
    for (std::int64_t step = 1; step <= 3; ++step) {
        CompletedStep done{};
        done.row.step = done.row.updates = step;
        done.row.loss = 2;
        done.row.grad_norm = step > 1 ? std::numeric_limits<float>::quiet_NaN() : 1;
        done.row.loss_scale = 0x1p24F;
        done.row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
        done.next_loss_scale = 0x1p24F;
        alerts.on_step(done);
    }
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings.front().step, 2);
    EXPECT_THAT(warnings.front().message.str(),
                HasSubstr("at a static loss scale of 2²⁴, and were applied"));
}

}  // namespace
}  // namespace engine
