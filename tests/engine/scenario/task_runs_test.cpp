#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/runs/run_listing.h"
#include "engine/session/session.h"
#include "io/safetensors/tensor_file.h"
#include "record/event_json.h"
#include "support/device_support.h"
#include "support/element.h"
#include "tasks/task_descriptor.h"
#include "temp_folder.h"

// Whole runs of the tasks other than image classification: their events, records and folders.
namespace engine {
namespace {

using nlohmann::json;
using test::small_run;
using test::small_text_run;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A finished run with its outcome and record.
struct TaskRunEnd {
    RunStarted started;
    std::vector<EpochDone> epochs;
    std::vector<RunWarning> warnings;
    std::vector<RunFailed> failures;
    RunDone done;
    std::vector<Event> events;
    std::vector<StepRecord> rows;
    RunSummary summary;
    RunSummary rebuilt;  ///< from the run's folder only
};

class TaskRuns : public testing::Test {
protected:
    TaskRunEnd run(const RunConfig& config, RunState state = RunState::done) {
        Session session(config, std::make_shared<ComputeThread>(), store_);
        session.post(Command::start);
        EXPECT_TRUE(session.wait(300));
        TaskRunEnd out;
        out.events = session.drain();
        for (const Event& event : out.events) {
            if (const auto* started = std::get_if<RunStarted>(&event)) out.started = *started;
            if (const auto* epoch = std::get_if<EpochDone>(&event)) out.epochs.push_back(*epoch);
            if (const auto* warning = std::get_if<RunWarning>(&event))
                out.warnings.push_back(*warning);
            if (const auto* failed = std::get_if<RunFailed>(&event)) {
                out.failures.push_back(*failed);
                EXPECT_EQ(state, RunState::failed) << failed->message.str();
            }
            if (const auto* done = std::get_if<RunDone>(&event)) out.done = *done;
        }
        EXPECT_EQ(session.state(), state);
        const auto record = session.record();
        out.rows.resize(static_cast<std::size_t>(record.size()));
        record.rows(0, out.rows);
        if (session.run().empty()) return out;
        out.summary = store_->find(session.run()).value();
        store_->rebuild();
        out.rebuilt = store_->find(session.run()).value();
        return out;
    }

    test_support::TempFolder folder_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(folder_ / "runs");
};

std::vector<std::string> keys_of(const PartFigures& figures) {
    std::vector<std::string> out;
    for (const MetricValue& metric : figures.metrics) out.push_back(metric.key);
    return out;
}

/// Two epochs of a short text.
RunConfig text() {
    RunConfig config = small_text_run("fp32");
    config.epochs = 2;
    config.dataset.train_limit = 400;
    return config;
}

TEST_F(TaskRuns, ATextIsCountedInTokensAndMeasuredByItsPerplexity) {
    const TaskRunEnd ended = run(text());
    EXPECT_EQ(ended.started.task, "language-model");
    EXPECT_EQ(ended.started.unit, "tokens");
    EXPECT_EQ(ended.started.train_samples, 400);
    EXPECT_EQ(ended.started.test_samples, 400);
    ASSERT_THAT(ended.started.metrics, SizeIs(1));
    EXPECT_EQ(ended.started.metrics[0].key, "perplexity");
    EXPECT_FALSE(ended.started.metrics[0].higher_is_better);
    // Streams of 100 tokens: 19 windows of 5 and one of 4, since the last token is only a target.
    EXPECT_EQ(ended.started.steps_planned, 40);
    ASSERT_THAT(ended.rows, SizeIs(40));
    EXPECT_EQ(ended.rows[0].samples, 20);
    EXPECT_EQ(ended.rows[19].samples, 4 * 99);
    EXPECT_EQ(ended.rows[39].samples, 2 * 4 * 99);
    double loss = 0, weight = 0;
    for (const StepRecord& row : ended.rows) {
        EXPECT_TRUE(std::isnan(row.accuracy));
        EXPECT_FLOAT_EQ(row.metric_1, std::exp(row.loss));
        EXPECT_TRUE(std::isnan(row.metric_2));
        if (row.step > 20) continue;
        const double tokens = row.step == 20 ? 16 : 20;
        loss += static_cast<double>(row.loss) * tokens;
        weight += tokens;
    }
    ASSERT_THAT(ended.epochs, SizeIs(2));
    const EpochDone& epoch = ended.epochs[0];
    EXPECT_THAT(keys_of(epoch.train), testing::ElementsAre("perplexity"));
    EXPECT_DOUBLE_EQ(epoch.train.loss, loss / weight) << "each token weighs as much";
    EXPECT_NEAR(epoch.train.of("perplexity"), std::exp(loss / weight), 1e-6);
    EXPECT_DOUBLE_EQ(epoch.test.of("perplexity"), std::exp(epoch.test.loss));
    EXPECT_FALSE(epoch.validation.known());
    EXPECT_LT(ended.epochs[1].train.loss, epoch.train.loss) << "it learns";
    EXPECT_EQ(ended.done.test.of("perplexity"), ended.epochs[1].test.of("perplexity"));
    for (const RunSummary& summary : {ended.summary, ended.rebuilt}) {
        EXPECT_EQ(summary.unit, "tokens");
        EXPECT_EQ(summary.metrics, ended.started.metrics);
        EXPECT_EQ(summary.test.of("perplexity"), ended.done.test.of("perplexity"));
        EXPECT_TRUE(std::isnan(summary.test.of("accuracy")));
    }
    const json line = json::parse(to_json_line(epoch));
    for (const char* field : {"train_perplexity", "test_perplexity", "test_loss"})
        EXPECT_TRUE(line.at(field).is_number()) << field;
    EXPECT_FALSE(line.contains("validation_loss"));
    const std::string page = run_page({ended.summary, ended.events});
    EXPECT_THAT(page, HasSubstr("test perplexity"));
    EXPECT_THAT(page, testing::Not(HasSubstr("accuracy")));
}

TEST_F(TaskRuns, ATestPartShorterThanTheEvaluationsStreamsIsEvaluatedInFewer) {
    RunConfig config = small_text_run("fp32");
    config.evaluation_batch = 0;  // with the task's own 10 streams 20 tokens would be needed
    config.dataset.test_limit = 5;
    config.max_steps = 2;
    const TaskRunEnd ended = run(config);
    ASSERT_THAT(ended.epochs, SizeIs(1));
    EXPECT_TRUE(std::isfinite(ended.epochs[0].test.loss));
    EXPECT_GT(ended.epochs[0].test.of("perplexity"), 1);
}

TEST_F(TaskRuns, TheValidationPartOfATextIsItsLastTokens) {
    RunConfig config = text();
    config.dataset.validation_share = 0.25;
    const TaskRunEnd ended = run(config);
    EXPECT_EQ(ended.started.train_samples, 300);
    EXPECT_EQ(ended.started.validation_samples, 100);
    ASSERT_THAT(ended.epochs, SizeIs(2));
    for (const EpochDone& epoch : ended.epochs) {
        EXPECT_TRUE(epoch.validation.known());
        EXPECT_DOUBLE_EQ(epoch.validation.of("perplexity"), std::exp(epoch.validation.loss));
        EXPECT_NE(epoch.validation.loss, epoch.test.loss);
    }
    EXPECT_EQ(ended.done.validation.loss, ended.epochs[1].validation.loss);
}

TEST_F(TaskRuns, AStateThatOverflowsIsResetAndToldOnceARun) {
    RunConfig config = text();
    config.model.options["cell"] = std::string("rnn-relu");
    config.precision.preset = "amp-fp16";  // skips the steps that overflow
    config.optimizer.options["lr"] = 1e-30;
    config.max_steps = 8;
    const DataParts data = open_dataset(config.dataset, config.seed);
    const auto task = make_task(config, data.train.data->schema());
    const auto model = make_model(config.model, task->model_shape(), config.seed, Device{});
    Collator collator(data.train, task->schema(true), test::loader_options(config));
    Batch batch;
    collator.make(batch, 0, 0);
    const auto seen = batch.fields[0].values<std::int64_t>();
    const std::vector<std::int64_t> first(seen.begin(), seen.end());
    // A token that is in the second window but not in the first.
    collator.make(batch, 0, 1);
    std::int64_t token = -1;
    for (const std::int64_t one : batch.fields[0].values<std::int64_t>())
        if (std::ranges::count(first, one) == 0) token = one;
    ASSERT_GE(token, 0);
    std::int64_t streams = 0;
    for (std::size_t row = 0; row < 4; ++row)
        streams += std::ranges::count(batch.fields[0].values<std::int64_t>().subspan(5 * row, 5),
                                      token) > 0;
    const Tensor& table = model->parameters()[0].tensor;
    set_element(table, token * table.size(1), std::numeric_limits<double>::infinity());
    config.model.init_from = (folder_ / "weights.safetensors").string();
    save_tensors(config.model.init_from, saved_state(*model));
    const TaskRunEnd ended = run(config);
    std::vector<RunWarning> told;
    for (const RunWarning& warning : ended.warnings) {
        if (warning.message.str().find("carried state") != std::string::npos)
            told.push_back(warning);
    }
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_EQ(told[0].step, 2) << "counted from 1";
    EXPECT_THAT(told[0].message.str(), HasSubstr("not finite in " + std::to_string(streams) +
                                                 " of the text's streams after step 2"));
    EXPECT_TRUE(std::isfinite(ended.rows[0].loss));
    EXPECT_FALSE(std::isfinite(ended.rows[1].loss));
    EXPECT_EQ(ended.rows[1].found_inf, 1);
}

/// A table of 200 rows: y = 3 a - 2 b + 100, and whether y is above 100.
std::string table_in(const test_support::TempFolder& folder) {
    std::string text = "a,b,y,kind\n";
    for (int i = 0; i < 200; ++i) {
        const double a = (i * 37 % 101) / 10.0, b = (i * 53 % 97) / 8.0;
        const double y = 3 * a - 2 * b + 100;
        text += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(y) + "," +
                (y > 100 ? "above" : "below") + "\n";
    }
    return folder.write("table.csv", text);
}

RunConfig csv(const std::string& path, const std::string& target) {
    RunConfig config = small_run("mlp", "fp32");
    config.dataset.kind = "csv";
    config.dataset.path = {path};
    config.dataset.options["target"] = target;
    config.dataset.options["columns"] = std::vector<std::string>{"a", "b"};
    config.model.options["hidden"] = std::vector<std::int64_t>{16};
    config.epochs = 4;
    return config;
}

TEST_F(TaskRuns, ATablesNumberIsPredictedInItsOwnUnits) {
    RunConfig config = csv(table_in(folder_), "y");
    config.dataset.validation_share = 0.25;
    ASSERT_THAT(validate(config), IsEmpty());
    const TaskRunEnd ended = run(config);
    EXPECT_EQ(ended.started.task, "regression");
    EXPECT_EQ(ended.started.unit, "rows");
    EXPECT_EQ(ended.started.test_samples, 40);
    EXPECT_EQ(ended.started.validation_samples, 40);
    EXPECT_EQ(ended.started.train_samples, 120);
    ASSERT_THAT(ended.started.metrics, SizeIs(2));
    EXPECT_EQ(ended.started.metrics[0].key, "rmse");
    EXPECT_EQ(ended.started.metrics[0].unit, "y");
    ASSERT_THAT(ended.epochs, SizeIs(4));
    for (const EpochDone& epoch : ended.epochs) {
        for (const PartFigures* part : {&epoch.train, &epoch.validation, &epoch.test}) {
            EXPECT_THAT(keys_of(*part), testing::ElementsAre("rmse", "r2"));
            EXPECT_GT(part->of("rmse"), 0);
            EXPECT_LE(part->of("r2"), 1);
        }
    }
    EXPECT_GT(ended.done.test.of("r2"), 0.5) << "a line is easily learnt";
    EXPECT_EQ(ended.done.validation.of("rmse"), ended.epochs.back().validation.of("rmse"));
    for (const StepRecord& row : ended.rows) {
        EXPECT_TRUE(std::isnan(row.accuracy));
        EXPECT_GT(row.metric_1, 0) << "rmse";
        EXPECT_LE(row.metric_2, 1) << "r2";
    }
    const json line = json::parse(to_json_line(ended.epochs[0]));
    for (const char* field : {"train_rmse", "train_r2", "validation_loss", "validation_rmse",
                              "validation_r2", "test_loss", "test_rmse", "test_r2"})
        EXPECT_TRUE(line.at(field).is_number()) << field;
    EXPECT_EQ(json::parse(to_json_line(ended.done)).at("test_rmse"), ended.done.test.of("rmse"));
    EXPECT_EQ(ended.rebuilt.test.of("r2"), ended.done.test.of("r2"));
    EXPECT_EQ(ended.rebuilt.metrics, ended.started.metrics);
    export_csv(ended.summary.folder, folder_ / "steps.csv");
    std::ifstream file(folder_ / "steps.csv");
    std::string header;
    std::getline(file, header);
    EXPECT_THAT(header,
                testing::EndsWith(
                    "scale_floor,exchange_ms,exchange_hidden_share,card_load,card_memory_bytes,"
                    "card_celsius,card_watts,card_joules,cpu_joules,x_zeroed_share,w_zeroed_share,"
                    "g_zeroed_share,x_saturated_share,w_saturated_share,g_saturated_share,"
                    "scale_headroom,fallback_products,rmse,r2"));
}

TEST_F(TaskRuns, ATablesCategoryIsClassified) {
    const TaskRunEnd ended = run(csv(table_in(folder_), "kind"));
    EXPECT_EQ(ended.started.task, "classification");
    EXPECT_EQ(ended.started.unit, "rows");
    EXPECT_EQ(ended.started.metrics, classification_metrics());
    EXPECT_GT(ended.done.test.of("accuracy"), 0.7);
    EXPECT_FALSE(std::isnan(ended.rows.back().accuracy));
    EXPECT_TRUE(std::isnan(ended.rows.back().metric_1));
}

TEST_F(TaskRuns, ATaskThatTheDataDoNotHaveEndsTheRunWithTheReason) {
    RunConfig config = csv(table_in(folder_), "kind");
    config.task.kind = "regression";
    const TaskRunEnd ended = run(config, RunState::failed);
    ASSERT_THAT(ended.failures, SizeIs(1));
    EXPECT_EQ(ended.failures[0].code, ErrorCode::settings);
    EXPECT_THAT(ended.failures[0].message.str(), HasSubstr("task.kind: regression"));
}

TEST_F(TaskRuns, AValidationPartIsKeptOutOfTrainingAndEvaluatedBesideTheTestPart) {
    RunConfig config = small_run("mlp", "fp32");
    config.dataset.train_limit = 200;
    config.dataset.test_limit = 50;
    const TaskRunEnd whole = run(config);
    EXPECT_EQ(whole.started.validation_samples, 0);
    EXPECT_FALSE(whole.done.validation.known());
    config.dataset.validation_share = 0.2;
    const TaskRunEnd split = run(config);
    EXPECT_EQ(split.started.train_samples, 160);
    EXPECT_EQ(split.started.validation_samples, 40);
    EXPECT_EQ(split.started.test_samples, 50);
    ASSERT_THAT(split.epochs, SizeIs(2));
    for (const EpochDone& epoch : split.epochs) {
        const double right = epoch.validation.of("accuracy") * 40;
        EXPECT_NEAR(right, std::round(right), 1e-9) << "of 40 samples";
        EXPECT_TRUE(epoch.test.known());
        const Event back = parse_event(to_json_line(epoch)).value();
        EXPECT_EQ(std::get<EpochDone>(back).validation.of("accuracy"),
                  epoch.validation.of("accuracy"));
    }
    EXPECT_EQ(split.rows.size(), 20u) << "ten steps an epoch";
}

}  // namespace
}  // namespace engine
