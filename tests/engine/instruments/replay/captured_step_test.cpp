#include "engine/instruments/captured_step.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "engine/instruments/microscope.h"
#include "engine/instruments/precision_search.h"
#include "engine/instruments/skips.h"
#include "engine/instruments/xray.h"
#include "resume_support.h"
#include "support/device_support.h"

namespace engine {
namespace {

using test::Ended;
using test::small_run;

class CapturedStepTest : public test::ResumedRuns {
protected:
    static RunConfig config() {
        RunConfig config = small_run("lenet", "amp-fp16");
        config.dataset.train_limit = 96;
        config.dataset.test_limit = 16;
        config.max_steps = 5;
        config.epochs = 10;
        return config;
    }
    static std::vector<std::string> types_of(const Xray& trace) {
        std::vector<std::string> out;
        for (const XrayOp& op : trace.ops) out.push_back(op.module + op.op + op.compute_dtype);
        return out;
    }
};

/// Every instrument gives the same result for the copy as for the run's own step.
TEST_F(CapturedStepTest, StandsForItsStep) {
    const Ended run = train(config());
    const CapturedStep captured = capture_step(run.folder, 3);
    EXPECT_EQ(captured.step(), 3);
    EXPECT_EQ(captured.config().precision.preset, "amp-fp16");
    const Xray own = xray_step(run.folder, 3), found = xray_step(captured);
    EXPECT_EQ(found.step, 3);
    EXPECT_EQ(found.loss, own.loss);
    EXPECT_EQ(types_of(found), types_of(own));
    EXPECT_EQ(shadow_histograms(captured), shadow_histograms(run.folder, 3));
    const ForcedTypes forced{{"conv1", ForcedType::fp32}};
    const XrayOutcome first = try_forced(captured, forced).after;
    const XrayOutcome again = try_forced(capture_step(run.folder, 3), forced).after;
    EXPECT_EQ(again.loss, first.loss);
    EXPECT_EQ(again.gradient_error, first.gradient_error);
}

/// The histograms are those that the run itself recorded at the step.
TEST_F(CapturedStepTest, IsCountedAsInTheRun) {
    RunConfig counting = config();
    counting.instruments.histograms_every = 4;
    const Ended run = train(counting);
    const HistogramSample kept = HistogramRecordReader::open(run.folder).read(0);
    const HistogramSample found = step_histograms(capture_step(run.folder, 4));
    EXPECT_EQ(found.step, 4);
    EXPECT_FALSE(found.shadow);
    EXPECT_EQ(found.loss_scale, kept.loss_scale);
    for (const LayerHistogram& layer : kept.layers) {
        const LayerHistogram* const same = found.find(layer.layer, layer.kind);
        ASSERT_NE(same, nullptr) << layer.layer;
        EXPECT_EQ(same->values.bins, layer.values.bins) << layer.layer;
        EXPECT_EQ(same->values.zero, layer.values.zero) << layer.layer;
    }
}

TEST_F(CapturedStepTest, SaysHowManyStepsAreLeftAndCanBeGivenUp) {
    RunConfig saved = config();
    saved.checkpoint.every_steps = 2;
    const Ended run = train(saved);
    EXPECT_EQ(steps_to_replay(run.folder, 4), 1);
    EXPECT_EQ(steps_to_replay(run.folder, 2), 1);
    EXPECT_EQ(steps_to_replay(run.folder, 1), 0);
    std::vector<std::int64_t> left;
    capture_step(run.folder, 4, [&](std::int64_t remaining) { left.push_back(remaining); });
    EXPECT_EQ(left, std::vector<std::int64_t>{1});
    const auto give_up = [](std::int64_t) { throw Error(ErrorCode::state, msg("Cancelled.")); };
    EXPECT_THROW(capture_step(run.folder, 4, give_up), Error);
    SkipOptions options;
    options.replay = give_up;
    EXPECT_THROW(examine_skip(run.folder, 4, options), Error);
}

TEST_F(CapturedStepTest, OfSettingsIsTheirFirstStep) {
    const CapturedStep captured = capture_first_step(config());
    EXPECT_EQ(captured.step(), 1);
    EXPECT_EQ(xray_step(captured).loss, xray_first_step(config()).loss);
}

/// The FP32 trace of an AMP step has no casts and gives the loss of the shadow pass.
TEST_F(CapturedStepTest, IsTracedInAnotherPrecision) {
    const CapturedStep captured = capture_first_step(config());
    PrecisionConfig fp32;
    fp32.preset = "fp32";
    const Xray trace = xray_step(captured, fp32);
    EXPECT_EQ(trace.precision, "fp32");
    EXPECT_EQ(total(trace).casts, 0);
    RunConfig plain = config();
    plain.precision = fp32;
    EXPECT_EQ(trace.loss, xray_first_step(plain).loss);
    EXPECT_GT(total(xray_step(captured)).casts, 0);
}

/// A search that is cancelled during its trials or its confirmation reports that.
TEST_F(CapturedStepTest, EndsItsSearchWhenItIsAskedTo) {
    const CapturedStep captured = capture_first_step(config());
    PrecisionSearchOptions options;
    options.tolerance = 10;
    options.confirm_steps = 3;
    std::vector<std::int64_t> confirmed;
    options.on_confirm = [&](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(all, 6);
        confirmed.push_back(done);
        return true;
    };
    EXPECT_EQ(search_precision(captured, options).confirmed_steps, 3);
    EXPECT_EQ(confirmed, (std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}));
    options.on_confirm = [](std::int64_t done, std::int64_t) { return done < 2; };
    EXPECT_THROW(search_precision(captured, options), Error);
    options.on_trial = [](const PrecisionTrial&) { return false; };
    EXPECT_THROW(search_precision(captured, options), Error);
}

}  // namespace
}  // namespace engine
