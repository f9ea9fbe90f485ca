#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "resume_support.h"
#include "train/step/mixed_precision.h"

// Runs that train in 8 bits.
namespace engine {
namespace {

RunConfig on_cpu(RunConfig config) {
    config.device = "cpu";
    config.max_steps = 7;
    return config;
}

std::vector<std::string> presets_with_recipes() {
    std::vector<std::string> out;
    for (const PrecisionDescriptor& each : precisions())
        if (each.settings.recipe != RecipeKind::none) out.push_back(each.kind);
    return out;
}

class RecipeRun : public test::ResumedRuns {};

TEST_F(RecipeRun, HasTheBitsOfOneThatWasNotStopped) {
    for (const std::string& preset : presets_with_recipes()) {
        SCOPED_TRACE(preset);
        RunConfig config = on_cpu(test::small_run("mlp", preset));
        config.max_steps = 20;
        const test::Ended whole = train(config);
        const test::Ended stopped = train_to(config, 7);
        expect_same_end(whole, resume(stopped));
    }
}

TEST_F(RecipeRun, DiffersFromAutocastAndLearns) {
    for (const std::string& preset : presets_with_recipes()) {
        SCOPED_TRACE(preset);
        RunConfig config = on_cpu(test::small_transformer_run(preset));
        config.max_steps = 40;
        config.optimizer.kind = "adamw";
        const test::Ended run = train(config);
        const std::vector<float> coded = test::losses_of(run.record);
        config.precision.preset = "amp-bf16";
        const test::Ended low_run = train(config);
        const std::vector<float> low = test::losses_of(low_run.record);
        const StepRecord row = run.record.row(39);
        ASSERT_EQ(coded.size(), 40u);
        EXPECT_TRUE(std::isnan(low_run.record.row(39).scale_headroom));
        EXPECT_GE(row.x_zeroed_share, 0);
        EXPECT_LT(row.w_zeroed_share, 0.3);
        EXPECT_LT(row.g_saturated_share, 0.3);
        EXPECT_TRUE(std::isfinite(row.scale_headroom));
        EXPECT_NE(coded.front(), low.front());
        EXPECT_NEAR(coded.front(), low.front(), 0.05);
        EXPECT_NEAR(coded.back(), low.back(), 0.15);
        EXPECT_LT(coded.back(), coded.front());
    }
}

TEST_F(RecipeRun, IsTheSameWithRecomputedBlocks) {
    for (const std::string& preset : presets_with_recipes()) {
        SCOPED_TRACE(preset);
        RunConfig config = on_cpu(test::small_transformer_run(preset));
        const test::Computed one = train(config).figures;
        config.recompute = Recompute::blocks;
        EXPECT_EQ(train(config).figures, one);
    }
}

TEST_F(RecipeRun, SaysWithWhichSettingsItsRecipeCasts) {
    RunConfig config = on_cpu(test::small_run("mlp", "mxfp8"));
    config.quantize.mx_scale = MxScaling::floor;
    config.quantize.non_finite = NonFiniteRule::saturate;
    const auto started = train(config).all<RecipeStarted>();
    ASSERT_EQ(started.size(), 1u);
    using testing::Contains;
    using testing::Pair;
    const auto& settings = started.front().settings;
    EXPECT_THAT(settings, Contains(Pair("mx_scale", "floor")));
    EXPECT_THAT(settings, Contains(Pair("non_finite", "saturate")));
    config.precision.preset = "fp8-delayed";
    config.quantize = {.history = 7, .margin = 2, .convolutions = true};
    const auto delayed = train(config).all<RecipeStarted>();
    ASSERT_EQ(delayed.size(), 1u);
    EXPECT_THAT(delayed.front().settings, Contains(Pair("history", "7")));
    EXPECT_THAT(delayed.front().settings, Contains(Pair("margin", "2")));
    EXPECT_THAT(delayed.front().settings, Contains(Pair("convolutions", "true")));
}

struct EmptyModel : Model {
    EmptyModel() : Model(std::nullopt, Device{}) {}
    TensorList forward(const TensorList& inputs) override { return inputs; }
};

// Its kernels read host memory.
TEST_F(RecipeRun, IsRefusedOnACard) {
    EmptyModel model;
    const Device card{Device::Kind::cuda, 0};
    for (const std::string& preset : presets_with_recipes()) {
        const ResolvedPrecision precision = resolve(PrecisionConfig{.preset = preset});
        EXPECT_THROW(MixedPrecision(precision, ScalerConfig{}, model, card), Error) << preset;
    }
}

TEST_F(RecipeRun, OfAModelWithoutAProductForItIsRefused) {
    const test::Ended ended = train(on_cpu(test::small_text_run("fp8-current")));
    const auto failures = ended.all<RunFailed>();
    ASSERT_EQ(failures.size(), 1u);
    EXPECT_THAT(failures.front().message.str(),
                testing::HasSubstr("no product that a recipe covers"));
}

}  // namespace
}  // namespace engine
