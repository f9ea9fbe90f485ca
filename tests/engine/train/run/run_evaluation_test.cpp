#include "train/run/run_evaluation.h"

#include "resume_support.h"

// When a run is evaluated: evaluation.every_steps, evaluation.every_epochs, epochs = 0.
namespace engine {
namespace {

class RunEvaluationTest : public test::ResumedRuns {
protected:
    static constexpr std::int64_t steps_an_epoch = 3;

    static RunConfig config_of(const std::vector<std::string>& overrides) {
        RunConfig config = test::small_run("mlp", "fp32");
        config.dataset.train_limit = 48;
        config.dataset.test_limit = 32;
        const ParsedConfig parsed = parse_run_config(to_json(config), overrides);
        EXPECT_THAT(parsed.errors, testing::IsEmpty());
        return parsed.config;
    }
    /// "step epoch", with a ! at an epoch's end and a ? where nothing was evaluated.
    static std::vector<std::string> epochs(const test::Ended& run) {
        std::vector<std::string> out;
        for (const EpochDone& each : run.all<EpochDone>())
            out.push_back(std::to_string(each.step) + " " + std::to_string(each.epoch) +
                          (each.epoch_ended ? "!" : "") + (each.test.known() ? "" : "?"));
        return out;
    }
};

using testing::ElementsAre;

TEST_F(RunEvaluationTest, IsMadeAfterEachEpochUnlessTheSettingsSayOtherwise) {
    EXPECT_THAT(epochs(train(config_of({"epochs=3"}))), ElementsAre("3 1!", "6 2!", "9 3!"));
    EXPECT_THAT(epochs(train(config_of({"epochs=3", "evaluation.every_epochs=2"}))),
                ElementsAre("3 1!?", "6 2!", "9 3!"))
        << "the end is always evaluated";
    EXPECT_THAT(epochs(train(config_of({"epochs=2", "evaluation.every_epochs=0"}))),
                ElementsAre("3 1!?", "6 2!"));
}

TEST_F(RunEvaluationTest, IsMadeWithinEpochsAfterSoManySteps) {
    const test::Ended run = train(
        config_of({"epochs=3", "evaluation.every_steps=2", "evaluation.every_epochs=0"}));
    EXPECT_THAT(epochs(run), ElementsAre("2 0", "3 1!?", "4 1", "6 2!", "8 2", "9 3!"));
    const std::vector<EpochDone> all = run.all<EpochDone>();
    const std::vector<float> losses = test::losses_of(run.record);
    EXPECT_NEAR(all[0].train.loss, (losses[0] + losses[1]) / 2, 1e-6);
    EXPECT_NEAR(all[1].train.loss, (losses[0] + losses[1] + losses[2]) / 3, 1e-6);
    EXPECT_NEAR(all[2].train.loss, losses[3], 1e-6) << "the epoch began anew";
}

TEST_F(RunEvaluationTest, DoesNotChangeTheStepsOfARun) {
    const test::Ended usual = train(config_of({"epochs=2"}));
    const test::Ended often = train(config_of({"epochs=2", "evaluation.every_steps=1"}));
    EXPECT_EQ(usual.figures, often.figures);
}

TEST_F(RunEvaluationTest, MovesEarlyStoppingAtTheEndsOfEpochsOnly) {
    const test::Ended run =
        train(config_of({"epochs=9", "evaluation.every_steps=1", "early_stopping.patience=2",
                         "clip.kind=value", "clip.value=1e-30", "optimizer.momentum=0",
                         "optimizer.weight_decay=0"}));
    EXPECT_EQ(run.record.size(), 3 * steps_an_epoch);
}

TEST_F(RunEvaluationTest, GoesOnAfterAStopAsIfThereHadBeenNone) {
    const RunConfig config = config_of(
        {"epochs=3", "evaluation.every_steps=2", "evaluation.every_epochs=2"});
    const test::Ended whole = train(config);
    for (const std::int64_t stop : {2, 3, 6}) {
        const test::Ended resumed = resume(train_to(config, stop));
        expect_same_end(whole, resumed);
        EXPECT_EQ(epochs(resumed).back(), "9 3!");
    }
}

TEST_F(RunEvaluationTest, OfNoEpochsEvaluatesTheWeightsThatTheRunStartsFrom) {
    const test::Ended trained = train(config_of({"epochs=1"}));
    const std::filesystem::path last = find_checkpoint(trained.folder, "last").folder;
    const std::string weights = (last / "weights.safetensors").string();
    const test::Ended run = train(config_of({"epochs=0", "model.init_from=" + weights}));
    EXPECT_EQ(run.record.size(), 0);
    EXPECT_THAT(epochs(run), ElementsAre("0 0"));
    EXPECT_EQ(run.all<EpochDone>()[0].test.loss, trained.all<EpochDone>()[0].test.loss);
    ASSERT_EQ(run.all<RunDone>().size(), 1u);
    EXPECT_EQ(run.all<RunDone>()[0].reason, DoneReason::epochs);
    const std::filesystem::path saved = find_checkpoint(run.folder, "last").folder;
    EXPECT_EQ(test::values_of(saved / "weights.safetensors"),
              test::values_of(last / "weights.safetensors"));
    EXPECT_EQ(resume(run, "last", {"epochs=1"}).record.size(), steps_an_epoch);
}

TEST_F(RunEvaluationTest, RulesThatWaitForProgressNeedEvaluatedEpochs) {
    for (const char* rule : {"early_stopping.patience=2", "schedule.kind=plateau"}) {
        const ParsedConfig parsed = parse_run_config("{}", {rule, "evaluation.every_epochs=0"});
        ASSERT_EQ(parsed.errors.size(), 1u) << rule;
        EXPECT_EQ(parsed.errors[0].field, "evaluation.every_epochs");
        EXPECT_TRUE(parse_run_config("{}", {rule, "evaluation.every_epochs=2"}).errors.empty());
    }
}

TEST_F(RunEvaluationTest, OfNoEpochsNeedsWeights) {
    const ParsedConfig parsed = parse_run_config("{}", {"epochs=0"});
    ASSERT_EQ(parsed.errors.size(), 1u);
    EXPECT_EQ(parsed.errors[0].field, "epochs");
}

}  // namespace
}  // namespace engine
