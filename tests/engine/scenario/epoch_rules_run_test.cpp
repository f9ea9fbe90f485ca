#include "resume_support.h"
#include "support/device_support.h"

// Plateau and early stopping in whole runs. A tiny clipping limit keeps the weights constant, so
// that no epoch improves on the first.
namespace engine {
namespace {

class EpochRulesRun : public test::ResumedRuns {
protected:
    static RunConfig still(const std::vector<std::string>& more) {
        RunConfig config = test::small_run("mlp", "fp32");
        config.dataset.train_limit = 48;
        config.dataset.test_limit = 32;
        std::vector<std::string> overrides = {"clip.kind=value",          "clip.value=1e-30",
                                              "optimizer.momentum=0",     "optimizer.lr=0.5",
                                              "optimizer.weight_decay=0", "epochs=9"};
        overrides.insert(overrides.end(), more.begin(), more.end());
        const ParsedConfig parsed = parse_run_config(to_json(config), overrides);
        EXPECT_THAT(parsed.errors, testing::IsEmpty());
        return parsed.config;
    }
    static constexpr std::int64_t steps_an_epoch = 3;

    /// The learning rate of each epoch.
    static std::vector<float> rates(const StepRecordReader& record) {
        std::vector<float> out;
        for (std::int64_t row = 0; row < record.size(); row += steps_an_epoch) {
            out.push_back(record.row(row).lr);
            EXPECT_EQ(record.row(row + steps_an_epoch - 1).lr, out.back());
        }
        return out;
    }
};

TEST_F(EpochRulesRun, EarlyStoppingEndsARunThatDoesNotImproveAsDone) {
    const test::Ended run = train(still({"schedule.kind=constant", "early_stopping.patience=2"}));
    ASSERT_EQ(run.all<RunDone>().size(), 1u);
    EXPECT_EQ(run.all<RunDone>()[0].reason, DoneReason::early_stopping);
    EXPECT_EQ(run.all<EpochDone>().size(), 3u) << "the first and two without a gain";
    EXPECT_EQ(run.record.size(), 3 * steps_an_epoch);
    EXPECT_EQ(store_->find(run.run)->state, "done");
    store_->rebuild();
    EXPECT_EQ(store_->find(run.run)->state, "done") << "the folder says so too";
}

TEST_F(EpochRulesRun, PlateauDropsTheRateOfTheStepsAfterTheEpoch) {
    const test::Ended run = train(
        still({"schedule.kind=plateau", "schedule.gamma=0.5", "schedule.patience=1", "epochs=7"}));
    EXPECT_THAT(rates(run.record),
                testing::ElementsAre(0.5f, 0.5f, 0.5f, 0.25f, 0.25f, 0.125f, 0.125f));
    EXPECT_EQ(run.all<RunDone>()[0].reason, DoneReason::epochs);
}

TEST_F(EpochRulesRun, BothGoOnAfterAStopAsIfThereHadBeenNone) {
    const RunConfig config = still({"schedule.kind=plateau", "schedule.gamma=0.5",
                                    "schedule.patience=1", "early_stopping.patience=6"});
    const test::Ended whole = train(config);
    EXPECT_EQ(whole.record.size(), 7 * steps_an_epoch);
    for (const std::int64_t stop : {2, 9, 10, 17}) {
        const test::Ended resumed = resume(train_to(config, stop));
        expect_same_end(whole, resumed);
        EXPECT_EQ(resumed.all<RunDone>()[0].reason, DoneReason::early_stopping);
    }
}

}  // namespace
}  // namespace engine
