#include "engine/resume.h"

#include "engine/error.h"
#include "engine/picture.h"
#include "engine/sample_pictures.h"
#include "resume_support.h"
#include "support/click_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Ended;
using test::losses_of;
using test::resume_patience_s;
using test::small_click_run;
using test::small_masked_run;
using test::small_run;
using test::small_text_run;
using test::small_transformer_run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Resume : public test::ResumedRuns {};

struct Case {
    std::string model;
    std::string precision;
    std::int64_t accumulate;
};

class BitExactResume : public Resume, public testing::WithParamInterface<Case> {};

RunConfig click_run(const std::string& precision) {
    return small_click_run(precision, precision == "fp32" ? "adagrad" : "sparse-adam");
}

RunConfig config_of(const Case& wanted) {
    const bool is_text = wanted.model == "rnn-lm" || wanted.model == "transformer-lm";
    RunConfig config = wanted.model == "dlrm"             ? click_run(wanted.precision)
                       : wanted.model == "bert"           ? small_masked_run(wanted.precision)
                       : wanted.model == "transformer-lm" ? small_transformer_run(wanted.precision)
                       : is_text                          ? small_text_run(wanted.precision)
                                 : small_run(wanted.model, wanted.precision);
    config.accumulate = wanted.accumulate;
    config.dataset.augment = wanted.model == "lenet";
    config.scaler.init_scale = 1 << 24;  // the first steps are skipped
    config.epochs = 3;
    config.max_steps = 24;
    if (is_text || wanted.model == "bert") config.model.options["dropout"] = 0.3;
    if (wanted.model == "dcgan") config.model.options["channels"] = std::int64_t{4};
    return config;
}

TEST_P(BitExactResume, AStoppedRunGoesOnAsIfItHadNotStopped) {
    const RunConfig config = config_of(GetParam());
    const Ended whole = train(config);
    for (const std::int64_t stop : {1, 2, 13}) {  // the last one comes after the skipped steps
        const Ended stopped = train_to(config, stop);
        const Ended resumed = resume(stopped);
        EXPECT_EQ(resumed.run, stopped.run);
        expect_same_end(whole, resumed);
        EXPECT_EQ(store_->find(stopped.run)->state, "done");
    }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, BitExactResume,
    testing::Values(Case{"autoencoder", "amp-bf16", 1}, Case{"dcgan", "amp-fp16", 4},
                    Case{"mlp", "fp32", 1}, Case{"mlp", "amp-fp16", 4}, Case{"mlp", "pure-fp16", 1},
                    Case{"lenet", "o2-fp16", 1}, Case{"lenet", "amp-fp16", 1},
                    Case{"rnn-lm", "amp-bf16", 4}, Case{"rnn-lm", "amp-fp16", 1},
                    Case{"transformer-lm", "amp-fp16", 1}, Case{"transformer-lm", "amp-bf16", 4},
                    Case{"bert", "amp-fp16", 4}, Case{"bert", "o2-fp16", 1},
                    Case{"dlrm", "fp32", 4}, Case{"dlrm", "amp-fp16", 1}),
    [](const auto& each) {
        std::string name = each.param.model + "_" + each.param.precision + "_" +
                           std::to_string(each.param.accumulate);
        std::ranges::replace(name, '-', '_');
        return name;
    });

RunConfig spirals(std::int64_t max_steps) {
    RunConfig config = small_run("mlp", "amp-fp16");
    config.max_steps = max_steps;
    config.epochs = 1000;
    return config;
}

TEST_F(Resume, ListsWhatWasRestored) {
    const Ended stopped = train_to(spirals(20), 7);
    const Ended resumed = resume(stopped);
    const auto events = resumed.all<RunResumed>();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].step, 7);
    EXPECT_EQ(events[0].parent, "");
    std::string all;
    for (const Message& part : events[0].restored) all += part.str() + "\n";
    for (const char* part : {"Weights", "Optimizer sgd", "Loss scale", "schedule", "Data", "seed",
                             "Step record: 7 rows"}) {
        EXPECT_THAT(all, HasSubstr(part));
    }
}

TEST_F(Resume, AChangedRunIsANewOneThatNamesItsParent) {
    const Ended stopped = train_to(spirals(20), 7);
    const Ended child = resume(stopped, "last", {"precision.preset=fp32", "optimizer.lr=0.01"});
    EXPECT_NE(child.run, stopped.run);
    EXPECT_EQ(store_->find(child.run)->parent, stopped.run);
    EXPECT_EQ(store_->find(stopped.run)->state, "stopped") << "the parent is as it was";
    ASSERT_EQ(child.figures.size(), 20U);
    for (std::size_t i = 0; i < 7; ++i)
        EXPECT_EQ(child.figures[i], stopped.figures[i]) << "its parent's rows";
    EXPECT_EQ(child.record.row(7).loss_scale, 1) << "fp32 scales no loss";
    store_->rebuild();
    EXPECT_EQ(store_->find(child.run)->parent, stopped.run) << "the folder says so too";
}

/// A run may change between these precisions: each can load the state of the other.
TEST_F(Resume, WeightsAndStateAreConvertedToAnotherPrecision) {
    for (const char* from : {"fp32", "o2-fp16", "pure-fp16"}) {
        RunConfig config = spirals(8);
        config.precision.preset = from;
        config.optimizer.kind = "adamw";
        config.optimizer.options = {{"lr", 1e-3}};
        config = completed(config);
        const Ended stopped = train_to(config, 4);
        for (const std::string to : {"fp32", "amp-fp16", "o2-fp16", "pure-fp16"}) {
            if (to == from) continue;
            const Ended child = resume(stopped, "last", {"precision.preset=" + to});
            EXPECT_EQ(child.figures.size(), 8U) << from << " to " << to;
            EXPECT_LT(std::abs(losses_of(child.record)[4] - losses_of(stopped.record)[3]), 0.5f)
                << from << " to " << to;
        }
    }
}

TEST_F(Resume, MoreEpochsGoOnWithAFinishedRun) {
    RunConfig config = spirals(10);
    const Ended done = train(config);
    EXPECT_THROW(plan_resume(*store_->find(done.run)), Error) << "it has nothing left to do";
    const Ended longer = resume(done, "last", {"max_steps=15"});
    EXPECT_EQ(longer.figures.size(), 15U);
    EXPECT_NE(longer.run, done.run);
}

TEST_F(Resume, AnotherOptimizerBeginsWithFreshStateAndTheOldCount) {
    RunConfig config = spirals(20);
    config.precision.preset = "fp32";
    const Ended stopped = train_to(config, 9);
    const Ended child = resume(stopped, "last", {"optimizer.kind=adam", "optimizer.lr=0.001"});
    EXPECT_EQ(child.figures.size(), 20U);
    EXPECT_EQ(child.record.row(19).updates, 20);
}

TEST_F(Resume, WhatCannotChangeIsRefusedByItsField) {
    const Ended stopped = train_to(spirals(20), 3);
    const ResumePlan plan = plan_resume(*store_->find(stopped.run), "last",
                                        {"batch_size=8", "model.options.hidden=[4]", "seed=2"});
    std::vector<std::string> fields;
    for (const auto& error : plan.errors) fields.push_back(error.field);
    EXPECT_THAT(fields,
                testing::UnorderedElementsAre("batch_size", "model.options.hidden", "seed"));
}

TEST_F(Resume, FromAnEarlierCheckpointIsANewRun) {
    RunConfig config = spirals(20);
    config.checkpoint.every_steps = 5;
    config.checkpoint.keep = 10;
    const Ended whole = train(config);
    const Ended again = resume(whole, "10");
    EXPECT_NE(again.run, whole.run);
    EXPECT_EQ(again.figures, whole.figures);
}

RunConfig drawing_run() {
    RunConfig config = small_run("autoencoder", "fp32");
    config.model.options["channels"] = std::int64_t{4};
    config.dataset.train_limit = 64;  // 4 steps per epoch, with pictures after each
    config.dataset.test_limit = 16;
    config.epochs = 3;
    config.checkpoint.every_steps = 4;
    return config;
}

std::vector<std::int64_t> picture_steps(const Ended& run) {
    std::vector<std::int64_t> out;
    for (const auto& each : list_sample_pictures(run.folder)) out.push_back(each.step);
    return out;
}

TEST_F(Resume, ANewRunHasThePicturesOfItsParentUpToTheCheckpoint) {
    const Ended whole = train(drawing_run());
    EXPECT_THAT(picture_steps(whole), ElementsAre(4, 8, 12));
    const Ended other = resume(whole, "8", {"optimizer.lr=0.001"});
    EXPECT_NE(other.run, whole.run);
    EXPECT_THAT(picture_steps(other), ElementsAre(4, 8, 12));
    const auto same = [&](const char* file) {
        return load_picture(other.folder / "samples" / file).rgb ==
               load_picture(whole.folder / "samples" / file).rgb;
    };
    EXPECT_TRUE(same("4.png") && same("8.png"));
    EXPECT_FALSE(same("12.png")) << "one of its own";
}

TEST_F(Resume, PicturesThatCannotBeCopiedCostNothingElse) {
    const Ended whole = train(drawing_run());
    const ResumePlan plan = plan_resume(*store_->find(whole.run), "4");
    SessionOptions options;
    options.continuation = plan.continuation;
    options.folder = folder_ / "elsewhere";
    fs::remove(whole.folder / "samples" / "4.png");
    fs::create_symlink("nowhere", whole.folder / "samples" / "4.png");
    const Ended other = train(plan.config, options);
    EXPECT_EQ(other.figures, whole.figures);
    ASSERT_THAT(other.all<RunWarning>(), testing::SizeIs(1));
    EXPECT_THAT(other.all<RunWarning>()[0].message.str(), HasSubstr("4.png"));
}

TEST_F(Resume, ARunThatGoesOnHasNoPicturesOfStepsThatItTookBack) {
    const Ended whole = train(drawing_run());
    fs::copy_file(whole.folder / "samples" / "12.png", whole.folder / "samples" / "10.png");
    for (const auto& checkpoint : list_checkpoints(whole.folder)) {
        if (checkpoint.step > 8) fs::remove_all(checkpoint.folder);
    }
    const Ended resumed = resume(whole);
    EXPECT_EQ(resumed.run, whole.run);
    EXPECT_THAT(picture_steps(resumed), ElementsAre(4, 8, 12)) << "there was no evaluation at 10";
}

TEST_F(Resume, ADamagedCheckpointGivesWayToTheOneBefore) {
    RunConfig config = spirals(20);
    config.checkpoint.every_steps = 5;
    const Ended stopped = train_to(config, 13);
    const fs::path last = find_checkpoint(stopped.folder, "last").folder;
    ASSERT_EQ(last.filename(), "checkpoint-13");
    fs::resize_file(last / "weights.safetensors", 10);
    const ResumePlan plan = plan_resume(*store_->find(stopped.run));
    EXPECT_EQ(plan.step, 10);
    ASSERT_EQ(plan.notes.size(), 1U);
    EXPECT_THAT(plan.notes[0].str(), HasSubstr("weights.safetensors"));
    EXPECT_THROW(plan_resume(*store_->find(stopped.run), "13"), Error);
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
}

TEST_F(Resume, ARunWithoutACheckpointStartsAgain) {
    RunConfig config = spirals(12);
    config.checkpoint.at_end = false;
    config.checkpoint.best = false;
    const Ended stopped = train_to(config, 5);
    EXPECT_THAT(list_checkpoints(stopped.folder), IsEmpty());
    const Ended again = resume(stopped);
    EXPECT_EQ(again.run, stopped.run);
    EXPECT_EQ(again.figures, train(config).figures);
    EXPECT_EQ(again.all<RunResumed>().at(0).step, 0);
}

TEST_F(Resume, ARunThatWasKilledBeforeItHadARecordStartsAgain) {
    const RunConfig config = spirals(6);
    const auto made = RunStore(folder_ / "runs").create(config);  // its lock is released
    const Ended again = resume({made.run, made.folder, {}, {}, {}});
    EXPECT_EQ(again.figures, train(config).figures);
}

TEST_F(Resume, TakesBackWhatCameAfterTheCheckpoint) {
    RunConfig config = spirals(40);  // about 10 steps per epoch
    config.batch_size = 128;
    config.checkpoint.every_steps = 6;
    config.checkpoint.at_end = false;
    config.checkpoint.best = false;
    const Ended whole = train(config);
    const Ended stopped = train_to(config, 29);
    const Ended resumed = resume(stopped);
    EXPECT_EQ(resumed.all<RunResumed>().at(0).step, 24);
    store_->rebuild();
    std::vector<std::int64_t> epochs, once;
    std::size_t ends = 0;
    for (const Event& event : store_->events(stopped.run)) {
        if (const auto* epoch = std::get_if<EpochDone>(&event)) epochs.push_back(epoch->step);
        ends += std::holds_alternative<RunDone>(event) ? 1U : 0U;
    }
    for (const auto& epoch : whole.all<EpochDone>()) once.push_back(epoch.step);
    EXPECT_EQ(epochs, once);
    EXPECT_EQ(ends, 1U);
    EXPECT_EQ(store_->find(stopped.run)->skipped, store_->find(whole.run)->skipped);
}

TEST_F(Resume, ARunThatIsTrainedIsNotResumed) {
    const Ended stopped = train_to(spirals(1000), 3);
    SessionOptions options;
    options.continuation = plan_resume(*store_->find(stopped.run)).continuation;
    Session first(spirals(1000), thread_, store_, options);
    first.post(Command::step);
    while (first.state() != RunState::paused) std::this_thread::sleep_for(1ms);
    const Ended second = train(spirals(1000), options);
    ASSERT_EQ(second.all<RunFailed>().size(), 1U);
    EXPECT_EQ(second.all<RunFailed>()[0].code, ErrorCode::state);
}

TEST_F(Resume, ACheckpointOnRequestIsWrittenWhileARunIsPaused) {
    Session session(spirals(1000), thread_, store_);
    session.post(Command::step);
    while (session.state() != RunState::paused) std::this_thread::sleep_for(1ms);
    session.post(Command::checkpoint);
    std::vector<Event> events;
    const auto saved = [&] {
        for (Event& event : session.drain()) events.push_back(std::move(event));
        return std::ranges::any_of(
            events, [](const Event& e) { return std::holds_alternative<CheckpointSaved>(e); });
    };
    while (!saved()) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(find_checkpoint(store_->find(session.run())->folder, "last").step, 1);
}

TEST_F(Resume, TheBestEvaluationIsKeptBesideTheNewest) {
    RunConfig config = spirals(60);
    config.batch_size = 128;
    config.checkpoint.every_steps = 7;
    config.checkpoint.keep = 2;
    const Ended run = train(config);
    double best = -1;
    std::int64_t best_step = 0;
    for (const auto& epoch : run.all<EpochDone>()) {
        if (epoch.test.of("accuracy") > best) best_step = epoch.step;
        best = std::max(best, epoch.test.of("accuracy"));
    }
    EXPECT_EQ(find_checkpoint(run.folder, "best").step, best_step);
    EXPECT_LE(list_checkpoints(run.folder).size(), 3U);
    EXPECT_EQ(find_checkpoint(run.folder, "last").step, 60);
}

TEST_F(Resume, AnEpochThatEndedButWasNotEvaluatedIsEvaluatedFirst) {
    RunConfig config = spirals(0);
    config.epochs = 2;
    config.batch_size = 128;
    const Ended whole = train(config);
    const std::int64_t per_epoch = whole.all<EpochDone>().at(0).step;
    config.checkpoint.every_steps = 0;
    // Stopped at the last step of the epoch, before its evaluation.
    SessionOptions no_evaluation;
    no_evaluation.evaluate = false;
    Session session(config, thread_, store_, no_evaluation);
    for (std::int64_t i = 1; i <= per_epoch; ++i) {
        session.post(Command::step);
        while (session.record().size() < i || session.state() != RunState::paused)
            std::this_thread::sleep_for(100us);
    }
    session.post(Command::stop);
    ASSERT_TRUE(session.wait(resume_patience_s));
    const Ended stopped{session.run(), store_->find(session.run())->folder, {}, {}, {}};
    const Ended resumed = resume(stopped);
    ASSERT_EQ(resumed.all<EpochDone>().size(), 2U);
    EXPECT_EQ(resumed.all<EpochDone>()[0].step, per_epoch);
    EXPECT_EQ(resumed.all<EpochDone>()[0].test.loss, whole.all<EpochDone>()[0].test.loss);
    EXPECT_EQ(resumed.all<EpochDone>()[1].train.loss, whole.all<EpochDone>()[1].train.loss);
}

TEST(ResumePlan, ARunOfAnotherProgramIsNotStartedAnewInItsFolder) {
    RunSummary run;
    run.run = "7";
    run.origin = RunOrigin{.program = "PyTorch 2.15.0"};
    try {
        (void)plan_resume(run);
        FAIL() << "its settings are not ours to run";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_NE(std::string(error.what()).find("PyTorch 2.15.0"), std::string::npos);
    }
}

}  // namespace
}  // namespace engine
