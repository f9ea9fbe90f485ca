#include "engine/settings/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/data/dataset_preview.h"
#include "support/expectations.h"
#include "tasks/task_descriptor.h"
#include "temp_folder.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunConfig config_of(const std::string& dataset, const std::string& model,
                    const std::string& task = "auto") {
    RunConfig config;
    config.dataset.kind = dataset;
    config.model.kind = model;
    config.task.kind = task;
    return config;
}

std::string task_kind(const RunConfig& config) {
    return task_of(config, dataset_descriptor(config.dataset.kind).schema(config.dataset)).kind;
}

std::vector<std::string> keys_of(const std::vector<Metric>& metrics) {
    std::vector<std::string> out;
    for (const Metric& metric : metrics) out.push_back(metric.key);
    return out;
}

TEST(TaskCatalog, AutoFollowsFromDataSetAndModel) {
    EXPECT_EQ(task_kind(config_of("glyphs", "lenet")), "classification");
    EXPECT_EQ(task_kind(config_of("spirals", "mlp")), "classification");
    EXPECT_EQ(task_kind(config_of("text-generated", "rnn-lm")), "language-model");
    EXPECT_EQ(task_kind(config_of("text-words", "rnn-lm")), "language-model");
    EXPECT_EQ(task_kind(config_of("text-words", "transformer-lm")), "language-model");
    EXPECT_EQ(task_kind(config_of("text-words", "bert")), "masked-language-model");
}

TEST(TaskCatalog, ATaskThatIsNamedIsTakenWhereItFits) {
    Schema both;
    both.add({.name = "features", .kind = FieldKind::features, .shape = {2}});
    both.add({.name = "target", .kind = FieldKind::value, .shape = {1}});
    both.add({.name = "label", .kind = FieldKind::label, .dtype = DType::i64, .cardinality = 3});
    EXPECT_EQ(task_of(config_of("csv", "mlp"), both).kind, "regression");
    EXPECT_EQ(task_of(config_of("csv", "mlp", "classification"), both).kind, "classification");
    const std::string said = message_of(ErrorCode::settings, [&] {
        (void)task_of(config_of("csv", "mlp", "language-model"), both);
    });
    EXPECT_THAT(said, HasSubstr("task.kind: language-model"));
    EXPECT_THAT(
        message_of(ErrorCode::settings, [&] { (void)task_of(config_of("csv", "rnn-lm"), both); }),
        HasSubstr("model.kind: rnn-lm"));
}

TEST(TaskCatalog, EveryTaskHasTextsAndAPrimaryMetric) {
    ASSERT_FALSE(tasks().empty());
    for (const TaskDescriptor& task : tasks()) {
        EXPECT_FALSE(task.title.empty()) << task.kind;
        EXPECT_EQ(task.summary.back(), '.') << task.kind;
        EXPECT_FALSE(task.metrics.empty()) << task.kind;
    }
    const auto classification = std::ranges::find(tasks(), "classification", &TaskDescriptor::kind);
    ASSERT_NE(classification, tasks().end());
    EXPECT_EQ(classification->metrics, classification_metrics());
}

TEST(TaskCatalog, MetricsOfSettingsAreThoseOfTheirTask) {
    EXPECT_THAT(keys_of(metrics_of(config_of("glyphs", "lenet"))), ElementsAre("accuracy"));
    EXPECT_THAT(keys_of(metrics_of(config_of("text-chars", "rnn-lm"))), ElementsAre("perplexity"));
    EXPECT_THAT(keys_of(metrics_of(config_of("text-chars", "bert"))),
                ElementsAre("perplexity", "masked_accuracy"));
    EXPECT_THAT(keys_of(metrics_of(config_of("csv", "mlp", "regression"))),
                ElementsAre("rmse", "r2"));
    EXPECT_THAT(metrics_of(config_of("glyphs", "rnn-lm")), IsEmpty());
    EXPECT_THAT(metrics_of(config_of("unheard", "mlp")), IsEmpty());
}

TEST(TaskCatalog, MetricsOfFilesFollowFromTheirPreview) {
    const test_support::TempFolder folder;
    RunConfig config = config_of("csv", "mlp");
    config.dataset.path = {folder.write("a.csv", "a,y\n1,yes\n2,no\n3,yes\n4,no\n5,yes\n")};
    EXPECT_THAT(keys_of(metrics_of(config, preview_dataset(config.dataset, 1, 0))),
                ElementsAre("accuracy"));
    EXPECT_THAT(keys_of(metrics_of(config, DatasetPreview{})), ElementsAre("rmse", "r2"));
}

TEST(TaskCatalog, WindowsAreAsLongAsTheSettingsSay) {
    RunConfig config = config_of("text-generated", "rnn-lm");
    config.bptt = 11;
    const auto task =
        make_task(config, dataset_descriptor(config.dataset.kind).schema(config.dataset));
    EXPECT_EQ(task->schema(true)["tokens"].shape, (Shape{11}));
    EXPECT_EQ(task->schema(false)["target"].shape, (Shape{11}));
    EXPECT_EQ(task->evaluation_batch(), 10);
}

TEST(TaskCatalog, AnImageIsAugmentedInTrainingAlone) {
    RunConfig config = config_of("glyphs", "lenet");
    config.dataset.augment = true;
    const auto task =
        make_task(config, dataset_descriptor(config.dataset.kind).schema(config.dataset));
    EXPECT_EQ(task->schema(true).fields[0].transforms.size(), 2u);
    EXPECT_EQ(task->schema(false).fields[0].transforms.size(), 1u) << "normalised";
    EXPECT_EQ(task->model_shape().outputs, 20);
}

TEST(TaskCatalog, ParametersAreCountedWithoutTheData) {
    EXPECT_EQ(parameter_count(config_of("spirals", "mlp")),
              2 * 64 + 64 + 64 * 64 + 64 + 2 * 64 + 2);
    EXPECT_GT(parameter_count(config_of("text-generated", "rnn-lm")), 600'000);
}

TEST(TaskCatalog, ParametersOfFilesAreCountedFromTheirPreview) {
    const test_support::TempFolder folder;
    RunConfig config = config_of("csv", "mlp");
    config.dataset.path = {
        folder.write("a.csv", "a,b,c,y\n1,2,3,4.5\n2,2,1,0.5\n3,1,3,7\n4,4,4,2\n5,6,7,8\n")};
    const DatasetPreview preview = preview_dataset(config.dataset, 1, 0);
    EXPECT_EQ(parameter_count(config, preview), 3 * 64 + 64 + 64 * 64 + 64 + 64 + 1);
    EXPECT_NE(parameter_count(config), parameter_count(config, preview)) << "a typical file's";
    EXPECT_EQ(parameter_count(config, DatasetPreview{}), parameter_count(config));
}

}  // namespace
}  // namespace engine
