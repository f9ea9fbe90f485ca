#include "engine/train/resume.h"

#include <fstream>

#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "engine/runs/run_store.h"
#include "record/step_record.h"
#include "resume_support.h"
#include "support/click_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using test::comes_true;
using test::Ended;
using test::losses_of;
using test::patience_s;
using test::small_click_run;
using test::small_masked_run;
using test::small_run;
using test::small_text_run;
using test::small_transformer_run;
using test::spirals;
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

TEST_F(Resume, ListsWhatWasRestored) {
    const Ended stopped = train_to(spirals(20), 7);
    const Ended resumed = resume(stopped);
    const auto events = resumed.all<RunResumed>();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].step, 7);
    EXPECT_EQ(events[0].parent, "");
    std::string all;
    for (const Message& part : events[0].restored) all += part.str() + "\n";
    for (const char* part :
         {"Weights", "Optimizer SGD: state", "Loss scale 2", "schedule",
          "Data: continues with batch ", "seed", "Step record: up to step 7."}) {
        EXPECT_THAT(all, HasSubstr(part));
    }
}

double milliseconds_since_1970() {
    using namespace std::chrono;
    const auto now = system_clock::now().time_since_epoch();
    return static_cast<double>(duration_cast<milliseconds>(now).count()) / 1e3;
}

TEST_F(Resume, TheClockOfItsStepsCountsThePause) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 4;
    const double before = milliseconds_since_1970();
    const Ended stopped = train_to(config, 2);
    const double between = milliseconds_since_1970();
    const Ended resumed = resume(stopped);
    ASSERT_EQ(resumed.record.size(), 4);
    EXPECT_LE(before, resumed.record.row(0).clock_s);
    EXPECT_LE(resumed.record.row(0).clock_s, resumed.record.row(1).clock_s);
    EXPECT_LE(resumed.record.row(1).clock_s, between);
    EXPECT_LE(between, resumed.record.row(2).clock_s);
    EXPECT_LE(resumed.record.row(3).clock_s, milliseconds_since_1970());
}

TEST_F(Resume, TheClockOfItsStepsIsNeverSetBack) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 4;
    const Ended stopped = train_to(config, 2);
    StepRecord last = stopped.record.row(1);
    last.clock_s = 1e10;
    StepRecordWriter::open(stopped.folder, 1).append(last);
    EXPECT_EQ(resume(stopped).record.row(3).clock_s, 1e10);
}

TEST_F(Resume, ItsPeakIsThatOfTheWholeRunAlsoOfStepsThatAreMadeAgain) {
    RunConfig config = small_run("mlp", "fp32");
    config.max_steps = 4;
    const Ended stopped = train_to(config, 2);
    StepRecord later = stopped.record.row(1);
    later.step = 3;
    later.peak_bytes = std::int64_t{1} << 40;
    StepRecordWriter::open(stopped.folder, 2).append(later);  // after the last checkpoint
    const Ended resumed = resume(stopped);
    ASSERT_EQ(resumed.record.size(), 4);
    EXPECT_LT(resumed.record.row(1).peak_bytes, later.peak_bytes);
    EXPECT_EQ(resumed.record.row(2).peak_bytes, later.peak_bytes);
    EXPECT_EQ(resumed.record.row(3).peak_bytes, later.peak_bytes);
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
    const Ended longer = resume(done, "last", {"max_steps=15"}, LongerSchedule::stretch);
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

TEST_F(Resume, AnotherNumberOfThreadsIsTold) {
    const Ended stopped = train_to(spirals(20), 7);
    const auto restored = [&](const Ended& run) {
        std::string all;
        for (const RunResumed& resumed : run.all<RunResumed>())
            for (const Message& part : resumed.restored) all += part.str() + "\n";
        return all;
    };
    EXPECT_THAT(restored(resume(stopped, "last", {"threads=2"})),
                HasSubstr("Threads: 2 instead of 1"));
    const std::string same = restored(resume(stopped));
    EXPECT_THAT(same, HasSubstr("Weights"));
    EXPECT_THAT(same, testing::Not(HasSubstr("Threads")));
}

TEST_F(Resume, AFileOfFirstWeightsIsNotNeededAnyMore) {
    RunConfig config = spirals(20);
    const Ended first = train_to(config, 3);
    const fs::path file = folder_ / "first.safetensors";
    fs::copy_file(first.folder / "checkpoint-3" / "weights.safetensors", file);
    config.model.init_from = file.string();
    const Ended whole = train(config);
    const Ended stopped = train_to(config, 9);
    fs::remove(file);
    EXPECT_EQ(resume(stopped).figures, whole.figures);
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
    step_to(first, 4);
    const Ended second = train(spirals(1000), options);
    ASSERT_EQ(second.all<RunFailed>().size(), 1U);
    EXPECT_EQ(second.all<RunFailed>()[0].code, ErrorCode::state);
}

TEST_F(Resume, APlanThatIsOlderThanTheRunTakesNothingBack) {
    // While a person is asked, another program resumes the run and trains it to its end.
    const Ended stopped = train_to(spirals(8), 3);
    const ResumePlan plan = plan_resume(*store_->find(stopped.run));
    const Ended ended = resume(stopped);
    ASSERT_EQ(ended.record.size(), 8);
    SessionOptions options;
    options.continuation = plan.continuation;
    const Ended late = train(plan.config, options);
    ASSERT_EQ(late.all<RunFailed>().size(), 1U);
    EXPECT_THAT(late.all<RunFailed>()[0].message.str(),
                HasSubstr("has gone on meanwhile, to a checkpoint of step 8"));
    EXPECT_EQ(store_->find(stopped.run)->state, "done");
    EXPECT_EQ(StepRecordReader::open(ended.folder).size(), 8);
    EXPECT_EQ(plan_resume(*store_->find(stopped.run), "last", {"max_steps=9"}).step, 8);
}

TEST_F(Resume, ACheckpointOnRequestIsWrittenWhileARunIsPaused) {
    Session session(spirals(1000), thread_, store_);
    step_to(session, 1);
    session.post(Command::checkpoint);
    std::vector<Event> events;
    const auto saved = [&] {
        for (Event& event : session.drain()) events.push_back(std::move(event));
        return std::ranges::any_of(
            events, [](const Event& e) { return std::holds_alternative<CheckpointSaved>(e); });
    };
    ASSERT_TRUE(comes_true(saved));
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
    for (std::int64_t i = 1; i <= per_epoch; ++i) step_to(session, i);
    session.post(Command::stop);
    ASSERT_TRUE(session.wait(patience_s));
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
