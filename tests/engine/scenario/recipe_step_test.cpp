#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/settings/catalog.h"
#include "support/rank_steps.h"

// Steps with recipes: of several ranks, threads and micro-batches.
namespace engine {
namespace {

using test::alone;
using test::Numbers;
using test::on_ranks;
using test::RankRun;
using test::Step;
using test::together;

std::vector<std::string> recipe_presets() {
    std::vector<std::string> out;
    for (const PrecisionDescriptor& each : precisions())
        if (each.settings.has_recipe()) out.push_back(each.kind);
    return out;
}

/// 16 streams with windows of 16 characters: rows of each rank are multiples of 128.
RunConfig wide_run(const std::string& preset) {
    RunConfig config = test::small_transformer_run(preset);
    config.model.options["width"] = std::int64_t{32};
    config.batch_size = 16;
    config.bptt = 16;
    return config;
}

Tensor delayed_entry(Trainer& trainer, const std::string& name) {
    const TensorMap saved = trainer.quantized()->saved_state();
    return saved.at(name + ".history");
}

// Gradients are means over the batch, so a rank's parts differ from the whole by the order of sums
// alone: where the codes are the same.
TEST(RecipeStep, OfTwoRanksIsThatOfOneProcess) {
    for (const std::string& preset : recipe_presets()) {
        SCOPED_TRACE(preset);
        RunConfig config = wide_run(preset);
        config.quantize.reduce_amax = AmaxReduction::all;
        const Step one = alone(config);
        const std::vector<Step> two = together(config, 2);
        EXPECT_EQ(two[0].gradients, two[1].gradients);
        EXPECT_EQ(two[0].weights, two[1].weights);
        EXPECT_NEAR(two[0].row.loss, one.row.loss, 1e-6 * one.row.loss);
        EXPECT_LE(test::gap(two[0].gradients, one.gradients), 12 * 0x1p-8);
    }
}

TEST(RecipeStep, DelayedHistoriesOfRanksAreThoseOfOneProcess) {
    const RunConfig config = wide_run("fp8-delayed");
    RankRun one(config);
    one.step();
    const std::string name = "transformer.h.1.mlp.c_fc.x";
    const std::vector<double> own = delayed_entry(one.trainer, name).values();
    EXPECT_GT(own.back(), 0);
    for (const int ranks : {2, 4})
        on_ranks(ranks, [&](const auto& line) {
            RunConfig parts = config;
            parts.workers = ranks;
            RankRun run(parts, line);
            run.step();
            EXPECT_EQ(delayed_entry(run.trainer, name).values(), own);
        });
}

TEST(RecipeStep, HasTheSameBitsWithAnyNumberOfThreads) {
    for (const std::string& preset : recipe_presets()) {
        SCOPED_TRACE(preset);
        RunConfig config = wide_run(preset);
        const auto codes = [&](std::int64_t threads) {
            config.threads = threads;
            RankRun run(config);
            run.trainer.quantized()->examine_next(true);
            run.step();
            std::vector<std::int64_t> out;
            for (const OperandSample& each : run.trainer.quantized()->samples()) {
                if (each.operand == ProductOperand::gradient) continue;  // sums of other parts
                out.insert(out.end(),
                           {each.casts.nonzero, each.casts.zeroed, each.casts.saturated});
                for (const auto count : each.casts.scale_codes)
                    out.push_back(static_cast<std::int64_t>(count));
            }
            return out;
        };
        const auto first = codes(1);
        EXPECT_FALSE(first.empty());
        EXPECT_EQ(codes(2), first);
        if (preset == "nvfp4") {  // slow on few cores
            EXPECT_EQ(codes(8), first);
        }
    }
}

// One entry a step, over its micro-batches.
TEST(RecipeStep, OfMicroBatchesEntersTheLargestMagnitudeOfTheWholeBatch) {
    RunConfig config = test::small_run("mlp", "fp8-delayed");
    RankRun whole(config);
    whole.step();
    config.batch_size = 4;
    config.accumulate = 4;
    RankRun parts(config);
    parts.step();
    for (const char* name : {"fc1.x", "fc2.x", "fc1.w"})
        EXPECT_EQ(delayed_entry(parts.trainer, name).values(),
                  delayed_entry(whole.trainer, name).values())
            << name;
    const double a = delayed_entry(parts.trainer, "fc1.g").values().back(),
                 b = delayed_entry(whole.trainer, "fc1.g").values().back();
    EXPECT_NEAR(a, b, b * 0x1p-5) << "a quarter of the weight, of a mean of a quarter of the rows";
    EXPECT_EQ(delayed_entry(parts.trainer, "fc1.x").numel(), 1024);
}

TEST(RecipeStep, ThatIsSkippedEntersWhatWasFinite) {
    RunConfig config = test::small_run("mlp", "fp8-delayed");
    config.precision.scaler = ScalerMode::dynamic;
    config.precision.autocast = AutocastFormat::fp16;
    config.scaler.init_scale = 0x1p40;
    RankRun run(config);
    const auto before = run.weights();
    const CompletedStep done = run.step();
    EXPECT_TRUE(done.row.found_inf);
    EXPECT_EQ(run.weights(), before);
    EXPECT_GT(delayed_entry(run.trainer, "fc1.x").values().back(), 0);
    EXPECT_EQ(delayed_entry(run.trainer, "fc1.g").values().back(), 0) << "not finite";
}

// A power of two moves no code while no limit is met, and histories hold what the loss would give.
TEST(RecipeStep, IsTheSameWithALossScale) {
    for (const std::string& preset : recipe_presets()) {
        SCOPED_TRACE(preset);
        RunConfig config = test::small_run("mlp", preset);
        config.precision.scaler = ScalerMode::constant;
        config.scaler.init_scale = 1;
        RankRun plain(config);
        config.scaler.init_scale = 1024;
        RankRun scaled(config);
        for (int step = 0; step < 3; ++step) {
            plain.step();
            scaled.step();
        }
        EXPECT_EQ(scaled.weights(), plain.weights());
        if (preset != "fp8-delayed") continue;
        EXPECT_EQ(delayed_entry(scaled.trainer, "fc1.g").values(),
                  delayed_entry(plain.trainer, "fc1.g").values());
    }
}

/// Casts of all weights so far; a layer has one or two sets of codes.
struct WeightCasts {
    std::int64_t casts = 0, sets = 0;
};

WeightCasts weight_casts(Trainer& trainer) {
    WeightCasts out;
    for (const MetLayer& each : trainer.quantized()->met()) {
        if (each.layer == nullptr) continue;
        out.casts += each.layer->weight_casts();
        out.sets += each.layer->recipe().has_one_set(ProductOperand::weight) ? 1 : 2;
    }
    return out;
}

double evaluated_loss(RankRun& run, const Batch& batch) {
    run.trainer.begin_evaluation();
    run.trainer.evaluate(batch, *run.feed);
    return run.trainer.take_evaluation().loss;
}

TEST(RecipeStep, CastsEachWeightOnceAfterAnUpdate) {
    for (const std::string& preset : recipe_presets()) {
        SCOPED_TRACE(preset);
        RunConfig config = test::small_transformer_run(preset);
        config.accumulate = 3;
        RankRun run(config);
        for (int steps = 1; steps <= 3; ++steps) {
            run.step();
            const WeightCasts found = weight_casts(run.trainer);
            EXPECT_GT(found.sets, 0);
            EXPECT_EQ(found.casts, steps * found.sets);
        }
        const Batch batch = run.make().front();
        evaluated_loss(run, batch);
        evaluated_loss(run, batch);
        run.step();
        const WeightCasts found = weight_casts(run.trainer);
        EXPECT_EQ(found.casts, 4 * found.sets) << "the step takes the codes of the evaluation";
    }
}

TEST(RecipeStep, CastsWeightsThatWereLoadedOrChanged) {
    const RunConfig config = test::small_run("mlp", "fp8-current");
    RankRun run(config), fresh(config);
    run.step();
    const TrainingState saved = run.trainer.saved_state();
    const Batch batch = run.make().front();
    const double first = evaluated_loss(run, batch);
    run.step();
    EXPECT_NE(evaluated_loss(run, batch), first);
    run.trainer.load_state(saved);
    EXPECT_EQ(evaluated_loss(run, batch), first);
    fresh.trainer.load_state(saved);
    EXPECT_EQ(evaluated_loss(fresh, batch), first);
    for (const Parameter& each : run.trainer.model().parameters())
        if (each.name == "fc1.weight") {
            Tensor weight = each.tensor;
            std::fill_n(weight.data_as<float>(), weight.numel(), 0.0f);
            weight.bump_version();
        }
    EXPECT_NE(evaluated_loss(run, batch), first);
}

// Results of everything but products have the type of autocast, f32 without it.
TEST(RecipeStep, QuantisesWithEachTypeOfAutocast) {
    RunConfig config = test::small_run("mlp", "fp8-current");
    const auto row_of = [&](AutocastFormat format, const char* recipe) {
        config.precision = {.preset = recipe};
        config.precision.autocast = format;
        return alone(config, 3).row;
    };
    const float plain = row_of(AutocastFormat::off, "fp32").loss;
    for (const AutocastFormat format :
         {AutocastFormat::off, AutocastFormat::bf16, AutocastFormat::fp16})
        for (const char* recipe : {"fp8-current", "mxfp8"}) {
            const StepRecord row = row_of(format, recipe);
            EXPECT_TRUE(std::isfinite(row.scale_headroom)) << "products were quantised";
            EXPECT_NE(row.loss, plain);
            EXPECT_NEAR(row.loss, plain, 0.05 * plain);
        }
}

TEST(RecipeStep, EvaluationChangesNoState) {
    for (const char* preset : {"fp8-delayed", "nvfp4"}) {
        const RunConfig config = test::small_run("mlp", preset);
        const auto weights_after = [&](bool evaluates) {
            RankRun run(config);
            run.step();
            if (evaluates) {
                run.trainer.begin_evaluation();
                for (const Batch& each : run.make()) run.trainer.evaluate(each, *run.feed);
                run.trainer.take_evaluation();
            }
            std::vector<Batch>& batches = run.make();
            if (!evaluates) batches = run.make();
            run.step(batches);
            return run.weights();
        };
        EXPECT_EQ(weights_after(true), weights_after(false)) << preset;
    }
}

TEST(RecipeStep, LearnsWithQuantisedConvolutions) {
    RunConfig config = test::small_run("lenet", "fp8-current");
    config.optimizer.kind = "adamw";
    const double linear = alone(config, 30).row.loss;
    config.quantize.convolutions = true;
    RankRun run(config);
    const double first = run.step().row.loss;
    for (int i = 1; i < 29; ++i) run.step();
    const double last = run.step().row.loss;
    EXPECT_LT(last, first);
    EXPECT_NE(last, linear);
    EXPECT_NEAR(last, linear, 0.3);
}

TEST(RecipeStep, KeepsForwardProductsAtTheEndOfARun) {
    RunConfig config = test::small_run("mlp", "mxfp4");
    const Step quantised = alone(config);
    config.quantize.skip = {"fc1:fprop", "fc2:fprop"};
    const Step kept = alone(config);
    EXPECT_NE(kept.row.loss, quantised.row.loss);
    config.quantize = {.high_precision_from = 0.01};  // of the 100 steps of the fixture
    RankRun run(config);
    EXPECT_EQ(run.step().row.loss, quantised.row.loss);
    config.quantize.high_precision_from = 1e-9;
    EXPECT_EQ(alone(config).row.loss, quantised.row.loss) << "a part of a step counts as one";
}

}  // namespace
}  // namespace engine
