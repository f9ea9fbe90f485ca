#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/runs/run_listing.h"
#include "engine/runs/run_store.h"
#include "record/step_record.h"
#include "temp_folder.h"
#include "write_text.h"

// Folders of runs that versions before metrics, tasks and parts wrote.
namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr char earlier_config[] = R"({
  "dataset": {"kind": "spirals", "path": "", "augment": false, "normalize": true,
              "train_limit": 0, "test_limit": 0, "order": ""},
  "model": {"kind": "mlp", "options": {"hidden": [32, 16]}, "init_from": ""},
  "optimizer": {"kind": "sgd", "lr": 0.125, "momentum": 0.9, "beta1": 0.9, "eps": 1e-08},
  "batch_size": 64, "epochs": 2, "seed": 7, "device": "cpu"
}
)";

/// {"event":"start",...} in the form of those versions.
std::string start_line() {
    std::string compact;
    for (const char c : std::string(earlier_config)) compact += c == '\n' ? ' ' : c;
    return R"({"event":"start","run":"3","config":)" + compact +
           R"(,"device":"cpu","threads":2,"parameters":658,"train_samples":10000,)"
           R"("test_samples":2000,"steps_planned":314,"folder":"/old/3"})";
}

std::string events_text() {
    return R"({"event":"created","run":"3","time":"2024-05-01T10:11:12","microseconds":1714550000000000})"
           "\n" +
           start_line() +
           R"(
{"event":"state","run":"3","state":"training"}
{"event":"epoch","run":"3","epoch":1,"step":157,"train_loss":0.61,"train_accuracy":0.79,"test_loss":0.48,"test_accuracy":0.83,"seconds":9.4}
{"event":"scale","run":"3","step":160,"kind":"skipped_normal","from":65536.0,"to":32768.0,"clean_steps":159}
{"event":"epoch","run":"3","epoch":2,"step":314,"train_loss":0.5,"train_accuracy":0.85,"test_loss":0.41,"test_accuracy":0.875,"seconds":9.1}
{"event":"done","run":"3","reason":"epochs","steps":314,"updates":313,"skipped":1,"test_loss":0.41,"test_accuracy":0.875,"wall_s":18.5,"samples_per_s":6283.5,"peak_bytes":123456}
)";
}

/// Settings, events and the record of three steps in a run's folder.
fs::path make_earlier_run(const fs::path& root) {
    const fs::path folder = root / "3";
    write_text(folder / "config.json", earlier_config);
    write_text(folder / "events.jsonl", events_text());
    // The columns of those versions (StepRecordMetrics).
    auto record = StepRecordWriter::create(folder);
    for (std::int64_t step = 1; step <= 3; ++step) {
        StepRecord row{};
        row.step = row.updates = step;
        row.loss = 0.5F;
        row.accuracy = 0.25F * static_cast<float>(step);
        record.append(row);
    }
    return folder;
}

void expect_figures(const RunSummary& run) {
    EXPECT_EQ(run.run, "3");
    EXPECT_EQ(run.state, "done");
    EXPECT_EQ(run.started, "2024-05-01T10:11:12");
    EXPECT_EQ(run.steps, 314);
    EXPECT_EQ(run.skipped, 1);
    EXPECT_EQ(run.test.loss, 0.41);
    EXPECT_EQ(run.test.of("accuracy"), 0.875);
    EXPECT_EQ(run.metrics, classification_metrics());
    EXPECT_EQ(run.wall_s, 18.5);
    EXPECT_EQ(run.samples_per_s, 6283.5);
    EXPECT_EQ(run.peak_bytes, 123456);
    EXPECT_EQ(run.config.dataset.kind, "spirals");
    EXPECT_EQ(std::get<double>(run.config.optimizer.options.at("lr")), 0.125);
    EXPECT_EQ(run.config.task.kind, "auto");
    EXPECT_EQ(run.config.dataset.validation_share, 0);
}

TEST(EarlierRun, OpensWithTheSameFigures) {
    const test_support::TempFolder dir;
    make_earlier_run(dir.path());
    RunStore store(dir.path());
    ASSERT_THAT(store.list(), SizeIs(1));
    expect_figures(store.list()[0]);
    store.rebuild();
    expect_figures(*store.find("3"));
    EXPECT_THAT(store.take_warnings(), IsEmpty());
}

TEST(EarlierRun, ItsEventsAreThoseOfAClassifier) {
    const test_support::TempFolder dir;
    make_earlier_run(dir.path());
    const auto events = RunStore(dir.path()).events("3");
    ASSERT_THAT(events, SizeIs(6));
    const auto& started = std::get<RunStarted>(events[0]);
    EXPECT_EQ(started.task, "classification");
    EXPECT_EQ(started.unit, "images");
    EXPECT_EQ(started.validation_samples, 0);
    EXPECT_EQ(started.metrics, classification_metrics());
    EXPECT_EQ(started.step_metrics, classification_metrics());
    EXPECT_EQ(started.config.seed, 7);
    const auto& epoch = std::get<EpochDone>(events[2]);
    EXPECT_EQ(epoch.train.loss, 0.61);
    EXPECT_EQ(epoch.train.of("accuracy"), 0.79);
    EXPECT_EQ(epoch.test.loss, 0.48);
    EXPECT_EQ(epoch.test.of("accuracy"), 0.83);
    EXPECT_FALSE(epoch.validation.known());
    EXPECT_TRUE(epoch.epoch_ended);
    const auto& done = std::get<RunDone>(events[5]);
    EXPECT_EQ(done.test.of("accuracy"), 0.875);
    EXPECT_EQ(done.updates, 313);
}

TEST(EarlierRun, ItsStepsHaveAccuracyAndNoOtherMetric) {
    const test_support::TempFolder dir;
    const fs::path folder = make_earlier_run(dir.path());
    const auto record = StepRecordReader::open(folder);
    ASSERT_EQ(record.size(), 3);
    EXPECT_EQ(record.row(2).accuracy, 0.75F);
    EXPECT_TRUE(std::isnan(record.row(2).metric_1));
    export_csv(folder, dir / "steps.csv");
    std::ifstream file(dir / "steps.csv");
    std::string header, row;
    std::getline(file, header);
    std::getline(file, row);
    EXPECT_THAT(header, HasSubstr(",loss,accuracy,lr,"));
    EXPECT_THAT(header,
                testing::EndsWith(
                    "scale_floor,exchange_ms,exchange_hidden_share,card_load,card_memory_bytes,"
                    "card_celsius,card_watts,card_joules,cpu_joules,x_zeroed_share,w_zeroed_share,"
                    "g_zeroed_share,x_saturated_share,w_saturated_share,g_saturated_share,"
                    "scale_headroom,fallback_products"));
    EXPECT_THAT(row, HasSubstr(",0.5,0.25,"));
}

TEST(EarlierRun, ItsPageAndItsLineAreWhatTheyWere) {
    const test_support::TempFolder dir;
    const auto run = read_run_folder(make_earlier_run(dir.path()));
    ASSERT_TRUE(run.has_value());
    const std::string page = run_page(*run);
    EXPECT_THAT(page, HasSubstr("test accuracy"));
    EXPECT_THAT(page, HasSubstr("0.8750"));
    EXPECT_THAT(page, HasSubstr("training accuracy"));
    const std::string line = to_json_line(run->summary);
    EXPECT_THAT(line, HasSubstr("\"test_loss\":0.41"));
    EXPECT_THAT(line, HasSubstr("\"test_accuracy\":0.875"));
    EXPECT_THAT(runs_table({run->summary}), HasSubstr("test accuracy"));
}

TEST(EarlierRun, ItsSettingsStillRun) {
    const ParsedConfig parsed = parse_run_config(earlier_config);
    EXPECT_THAT(parsed.errors, IsEmpty()) << "options of another optimizer are ignored";
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(parsed.config.model.options.at("hidden")),
              (std::vector<std::int64_t>{32, 16}));
    EXPECT_EQ(parsed.config.bptt, 35);
    EXPECT_EQ(parsed.config.evaluation_batch, 0);
}

TEST(EarlierRun, AFailedOneWithoutAnEvaluationHasUnknownFigures) {
    const test_support::TempFolder dir;
    const fs::path folder = dir / "4";
    write_text(folder / "config.json", earlier_config);
    write_text(folder / "events.jsonl",
               R"({"event":"created","run":"4","time":"2024-05-01T10:11:12","microseconds":1}
{"event":"error","run":"4","code":"training","message":"it diverged","hint":""}
{"event":"done","run":"4","reason":"failed","steps":5,"updates":5,"skipped":0,"test_loss":"nan","test_accuracy":"nan","wall_s":1,"samples_per_s":"nan","peak_bytes":1}
)");
    const auto run = RunStore(dir.path()).find("4");
    ASSERT_TRUE(run.has_value());
    EXPECT_EQ(run->state, "failed");
    EXPECT_FALSE(run->test.known());
    EXPECT_THAT(run_page({*run, {}}), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace engine
