#include "engine/resume.h"

#include <fstream>

#include "engine/error.h"
#include "engine/picture.h"
#include "engine/sample_pictures.h"
#include "resume_support.h"
#include "store/step_record.h"
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
    EXPECT_THAT(plan.notes[0].str(), HasSubstr("the 3 recorded steps after it"));
    EXPECT_THROW(plan_resume(*store_->find(stopped.run), "13"), Error);
    EXPECT_TRUE(fs::exists(last)) << "a plan changes nothing";
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
    EXPECT_FALSE(fs::exists(last));
    EXPECT_TRUE(fs::exists(last.string() + ".damaged/state.json")) << "moved aside";
}

/// Ways in which a checkpoint cannot be read, and what the error says.
struct Damage {
    std::string name;
    std::function<void(const fs::path&)> apply;
    std::string sentence;
};

std::string text_in(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

/// Replaces the first `from` in a checkpoint's state. With `as_before` as earlier versions wrote
/// it, without a checksum.
void edit_state(const fs::path& checkpoint, const std::string& from, const std::string& to,
                bool as_before = false) {
    std::string text = text_in(checkpoint / "state.json");
    const auto replace = [&text](const std::string& a, const std::string& b) {
        const auto at = text.find(a);
        ASSERT_NE(at, std::string::npos) << a;
        text.replace(at, a.size(), b);
    };
    replace(from, to);
    if (as_before) {
        replace("  \"checksum\": \"state.sha256\",\n", "");
        fs::remove(checkpoint / "state.sha256");
    }
    write_text(checkpoint / "state.json", text);
}

std::string number_after(const fs::path& checkpoint, const std::string& key) {
    const std::string text = text_in(checkpoint / "state.json");
    const auto at = text.find(key) + key.size();
    return key + text.substr(at, text.find_first_of(",\n", at) - at);
}

const std::vector<Damage>& damages() {
    static const std::vector<Damage> list = {
        {"state cut short", [](const fs::path& at) { fs::resize_file(at / "state.json", 100); },
         "the state of the checkpoint cannot be read"},
        {"weights cut short",
         [](const fs::path& at) { fs::resize_file(at / "weights.safetensors", 100); },
         "weights.safetensors: the file is damaged"},
        {"state missing", [](const fs::path& at) { fs::remove(at / "state.json"); },
         "the state of the checkpoint cannot be read"},
        {"optimizer missing", [](const fs::path& at) { fs::remove(at / "optimizer.safetensors"); },
         "the checkpoint lacks this file"},
        {"checksum missing", [](const fs::path& at) { fs::remove(at / "state.sha256"); },
         "the checkpoint lacks this file"},
        {"empty folder",
         [](const fs::path& at) {
             fs::remove_all(at);
             fs::create_directory(at);
         },
         "the state of the checkpoint cannot be read"},
        {"a later version",
         [](const fs::path& at) { edit_state(at, "\"version\": 1", "\"version\": 2"); },
         "of a later version of this program"}};
    return list;
}

TEST_F(Resume, ARunWhoseCheckpointsCannotBeReadIsLeftAsItIs) {
    RunConfig config = spirals(20);
    config.checkpoint.every_steps = 5;
    for (const Damage& damage : damages()) {
        const Ended stopped = train_to(config, 13);
        const auto all = list_checkpoints(stopped.folder);
        ASSERT_GE(all.size(), 2U);
        for (const auto& each : all) damage.apply(each.folder);
        const std::string record = text_in(stopped.folder / "steps.rec");
        try {
            (void)plan_resume(*store_->find(stopped.run));
            ADD_FAILURE() << damage.name << ": it began at step 0";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            EXPECT_THAT(error.message().str(), HasSubstr(damage.sentence)) << damage.name;
            EXPECT_THAT(error.hint().str(), HasSubstr("Nothing was changed")) << damage.name;
        }
        EXPECT_EQ(text_in(stopped.folder / "steps.rec"), record);
        const Ended anew = resume(stopped, "start");
        EXPECT_NE(anew.run, stopped.run) << damage.name;
        EXPECT_EQ(anew.figures.size(), 20U);
        EXPECT_EQ(store_->find(anew.run)->parent, stopped.run);
        EXPECT_EQ(text_in(stopped.folder / "steps.rec"), record) << damage.name;
    }
}

TEST_F(Resume, OnlyTheNewestOfALaterVersionIsRefusedToo) {
    RunConfig config = spirals(20);
    config.checkpoint.every_steps = 5;
    const Ended stopped = train_to(config, 13);
    edit_state(stopped.folder / "checkpoint-13", "\"version\": 1", "\"version\": 2");
    EXPECT_THROW((void)plan_resume(*store_->find(stopped.run)), Error);
    const Ended earlier = resume(stopped, "10");
    EXPECT_NE(earlier.run, stopped.run) << "the rows that it does not know stay";
    EXPECT_EQ(stopped.record.size(), 13);
}

TEST_F(Resume, CheckpointsThatAreGoneAreNoBeginning) {
    const Ended stopped = train_to(spirals(20), 7);
    fs::remove_all(stopped.folder / "checkpoint-7");
    try {
        (void)plan_resume(*store_->find(stopped.run));
        FAIL() << "it began at step 0";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_THAT(error.message().str(), HasSubstr("are gone"));
    }
}

TEST_F(Resume, AChangedStateIsNoticedByItsChecksum) {
    const Ended stopped = train_to(spirals(20), 7);
    const fs::path at = stopped.folder / "checkpoint-7";
    const std::string whole = text_in(at / "state.json");
    for (const char* key : {"\"scale\": ", "\"growth_tracker\": ", "\"seed\": ", "\"updates\": ",
                            "\"batch\": ", "\"saved\": "}) {
        edit_state(at, number_after(at, key), std::string(key) + "8");
        try {
            (void)plan_resume(*store_->find(stopped.run));
            ADD_FAILURE() << key;
        } catch (const Error& error) {
            EXPECT_THAT(error.message().str(), HasSubstr("state.json: the file is damaged"));
        }
        write_text(at / "state.json", whole);
    }
    EXPECT_EQ(plan_resume(*store_->find(stopped.run)).step, 7);
}

TEST_F(Resume, ACheckpointOfAnEarlierVersionHasNoChecksumOfItsState) {
    const RunConfig config = spirals(20);
    const Ended stopped = train_to(config, 7);
    edit_state(stopped.folder / "checkpoint-7", "\"version\": 1", "\"version\": 1",
               /*as_before=*/true);
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
}

TEST_F(Resume, AnImpossiblePlaceInTheDataIsRefused) {
    const std::string epoch = "\"epoch\": ", batch = "\"batch\": ", steps = "\"steps\": ";
    const RunConfig config = spirals(30);
    const Ended stopped = train_to(config, 7);
    const fs::path at = stopped.folder / "checkpoint-7";
    const std::string whole = text_in(at / "state.json");
    const std::string checksum = text_in(at / "state.sha256");
    const std::string record = text_in(stopped.folder / "steps.rec");
    // The numbers of "progress" come after those of "data", which are not read back.
    const auto set = [&](const std::string& key, const std::string& value) {
        std::string text = whole;
        const auto from = text.find("\"progress\"");
        const auto found = text.find(key, key == steps ? text.find("\"counts\"") : from);
        const auto end = text.find_first_of(",\n", found);
        text.replace(found, end - found, key + value);
        write_text(at / "state.json", text);
        edit_state(at, "\"version\": 1", "\"version\": 1", /*as_before=*/true);
    };
    std::vector<std::pair<std::string, std::string>> bad;
    for (const char* value : {"1000000", "-1", "1e300", "0.5", "\"nan\"", "-9e18"}) {
        bad.emplace_back(batch, value);
        bad.emplace_back(epoch, value);
    }
    bad.emplace_back(steps, "-1");
    bad.emplace_back(steps, "8");
    bad.emplace_back(steps, "1e300");
    for (const auto& [key, value] : bad) {
        set(key, value);
        SessionOptions options;
        options.continuation = {stopped.folder, at, true, {}, {}};
        const Ended refused = train(config, options);
        ASSERT_EQ(refused.all<RunFailed>().size(), 1U) << key << value;
        EXPECT_EQ(refused.all<RunFailed>()[0].code, ErrorCode::data) << key << value;
        EXPECT_EQ(text_in(stopped.folder / "steps.rec"), record) << key << value;
        write_text(at / "state.json", whole);
        write_text(at / "state.sha256", checksum);
    }
    EXPECT_EQ(resume(stopped).figures, train(config).figures);
}

TEST_F(Resume, FewerEpochsOrStepsThanDoneAreRefused) {
    RunConfig config = spirals(0);
    config.epochs = 3;
    config.batch_size = 128;
    const Ended done = train(config);
    const auto fields = [&](const std::vector<std::string>& changes,
                            const std::string& from = "last") {
        std::string out;
        for (const auto& error : plan_resume(*store_->find(done.run), from, changes).errors)
            out += error.field + ' ';
        return out;
    };
    EXPECT_EQ(fields({"epochs=1"}), "epochs ");
    EXPECT_EQ(fields({"epochs=2"}), "epochs ");
    EXPECT_EQ(fields({"max_steps=5"}), "epochs max_steps ");
    EXPECT_EQ(fields({"epochs=5", "max_steps=5"}), "max_steps ");
    EXPECT_EQ(fields({"optimizer.lr=0.001"}), "epochs ") << "there is nothing left to do";
    EXPECT_EQ(fields({"epochs=4"}), "");
    RunConfig by_steps = spirals(8);
    const Ended short_one = train(by_steps);
    EXPECT_EQ(plan_resume(*store_->find(short_one.run), "last", {"max_steps=7"}).errors.size(), 1U);
    EXPECT_EQ(plan_resume(*store_->find(short_one.run), "last", {"epochs=2000"}).errors.size(), 1U)
        << "max_steps ends it";
    EXPECT_THAT(plan_resume(*store_->find(short_one.run), "last", {"max_steps=9"}).errors,
                IsEmpty());
}

TEST_F(Resume, ARunStoppedInItsLastEvaluationGetsIt) {
    RunConfig config = small_run("lenet", "fp32");
    config.dataset.train_limit = 64;
    config.dataset.test_limit = 400;
    config.evaluation_batch = 1;
    config.epochs = 10;
    config.max_steps = 6;  // within the second epoch
    const Ended whole = train(config);
    const Ended stopped = train(config, {}, 6);
    ASSERT_EQ(stopped.all<RunDone>().at(0).reason, DoneReason::stopped);
    ASSERT_EQ(stopped.all<EpochDone>().size(), 1U) << "of the first epoch";
    const Ended resumed = resume(stopped);
    ASSERT_EQ(resumed.all<EpochDone>().size(), 1U);
    EXPECT_EQ(resumed.all<EpochDone>()[0].test.loss, whole.all<EpochDone>().at(1).test.loss);
    EXPECT_EQ(resumed.all<RunDone>().at(0).test.loss, whole.all<RunDone>().at(0).test.loss);
    EXPECT_THROW((void)plan_resume(*store_->find(stopped.run)), Error) << "now it is done";

    // Its checkpoint was written again: a continuation does not evaluate it once more.
    const Ended longer = resume(resumed, "last", {"max_steps=7"}, LongerSchedule::stretch);
    std::vector<std::int64_t> steps;
    for (const Event& event : store_->events(longer.run)) {
        if (const auto* epoch = std::get_if<EpochDone>(&event)) steps.push_back(epoch->step);
    }
    EXPECT_THAT(steps, ElementsAre(4, 6, 7));
}

std::vector<float> rates_of(const Ended& run) {
    std::vector<float> out;
    for (std::int64_t i = 0; i < run.record.size(); ++i) out.push_back(run.record.row(i).lr);
    return out;
}

std::vector<float> joined(std::vector<float> a, const std::vector<float>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

RunConfig scheduled(const std::string& kind, std::int64_t steps) {
    RunConfig config = spirals(steps);
    config.precision.preset = "fp32";  // no step is skipped
    config.schedule.kind = kind;
    return completed(config);
}

TEST_F(Resume, ALongerRunOfAFallingScheduleNeedsAChoice) {
    for (const char* kind : {"one-cycle", "cosine", "polynomial"}) {
        const Ended done = train(scheduled(kind, 10));
        for (const char* change : {"max_steps=20", "max_steps=14"}) {
            const Ended refused = resume(done, "last", {change});
            ASSERT_EQ(refused.all<RunFailed>().size(), 1U) << kind;
            const RunFailed failed = refused.all<RunFailed>()[0];
            EXPECT_EQ(failed.code, ErrorCode::settings);
            EXPECT_THAT(failed.message.str(), HasSubstr("the learning rate jumps from "));
            EXPECT_THAT(failed.hint.str(), HasSubstr("--schedule"));
            EXPECT_EQ(refused.run, "") << "no run was made";
        }
    }
    for (const char* kind : {"constant", "step", "plateau"}) {
        const Ended longer = resume(train(scheduled(kind, 10)), "last", {"max_steps=12"});
        EXPECT_EQ(longer.record.size(), 12) << kind;
    }
    const Ended chosen =
        resume(train(scheduled("cosine", 10)), "last", {"max_steps=12", "schedule.kind=constant"});
    EXPECT_EQ(chosen.record.size(), 12) << "the change itself is a choice";
    EXPECT_EQ(rates_of(chosen)[11], rates_of(chosen)[0]);
}

TEST_F(Resume, AScheduleIsHeldRepeatedOrStretchedOverAddedSteps) {
    for (const char* kind : {"one-cycle", "cosine", "polynomial"}) {
        const Ended done = train(scheduled(kind, 10));
        const std::vector<float> first = rates_of(done);
        const std::vector<std::string> more = {"max_steps=20"};
        EXPECT_EQ(rates_of(resume(done, "last", more, LongerSchedule::constant)),
                  joined(first, std::vector<float>(10, first.back())))
            << kind;
        EXPECT_EQ(rates_of(resume(done, "last", more, LongerSchedule::cycle)), joined(first, first))
            << kind;
        std::vector<float> stretched = rates_of(train(scheduled(kind, 20)));
        std::copy(first.begin(), first.end(), stretched.begin());
        EXPECT_EQ(rates_of(resume(done, "last", more, LongerSchedule::stretch)), stretched) << kind;
    }
}

TEST_F(Resume, ALengthenedRunGoesOnAndIsLengthenedOnceMore) {
    const Ended done = train(scheduled("cosine", 10));
    const std::vector<float> first = rates_of(done);
    const Ended twice = resume(done, "last", {"max_steps=20"}, LongerSchedule::cycle);
    EXPECT_EQ(rates_of(resume(twice, "last", {"max_steps=30"}, LongerSchedule::cycle)),
              joined(joined(first, first), first));
    EXPECT_EQ(rates_of(resume(twice, "last", {"max_steps=25"}, LongerSchedule::constant)),
              joined(joined(first, first), std::vector<float>(5, first.back())));
    const Ended held = resume(done, "last", {"max_steps=15"}, LongerSchedule::constant);
    EXPECT_EQ(rates_of(resume(held, "last", {"max_steps=25"}, LongerSchedule::cycle)),
              joined(rates_of(held), first));
    EXPECT_EQ(resume(held, "last", {"max_steps=17"}).record.size(), 17) << "the rate stays anyway";

    // From a checkpoint within the earlier plan the schedule comes to its end first.
    const Ended half = train_to(scheduled("cosine", 10), 5);
    EXPECT_EQ(rates_of(resume(half, "last", {"max_steps=20"}, LongerSchedule::cycle)),
              joined(first, first));
    // What the settings of the run say holds for its own resume.
    ResumePlan plan = plan_resume(*store_->find(done.run), "last", {"max_steps=20"});
    SessionOptions options;
    options.continuation = plan.continuation;
    options.continuation->schedule = LongerSchedule::cycle;
    Session session(plan.config, thread_, store_, options);
    for (std::int64_t i = 1; i <= 4; ++i) {
        session.post(Command::step);
        while (session.record().size() < 10 + i || session.state() != RunState::paused)
            std::this_thread::sleep_for(100us);
    }
    session.post(Command::stop);
    ASSERT_TRUE(session.wait(resume_patience_s));
    const Ended stopped{session.run(), store_->find(session.run())->folder, {}, {}, {}};
    EXPECT_EQ(resume(stopped).figures, twice.figures);
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
