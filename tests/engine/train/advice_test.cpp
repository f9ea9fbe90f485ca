#include "train/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/error.h"
#include "train/run_alerts.h"

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

/// What the run's last error advises after `finite` finite steps, of which `applied` were applied.
std::string hint_of(const RunConfig& config, std::int64_t finite, std::int64_t applied) {
    RunAlerts alerts(config, [](const Event&) {});
    try {
        for (std::int64_t step = 1; step <= finite + config.stop_on_nan; ++step) {
            FinishedStep done{};
            done.row.step = step;
            done.row.loss = step <= finite ? 1.0f : std::numeric_limits<float>::quiet_NaN();
            done.row.updates = std::min(step, applied);
            done.row.lost_update_share = std::numeric_limits<float>::quiet_NaN();
            done.next_loss_scale = 1;
            done.row.loss_scale = 1;
            alerts.see("1", done);
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

}  // namespace
}  // namespace engine
