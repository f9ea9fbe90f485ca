#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "task_golden.h"

// Compares training steps of the tasks other than classification with PyTorch's, in each precision
// of the CPU. The allowed difference is stored with each figure: tests/peer/task_golden.py derives
// it from the type's unit roundoff and the lengths of the sums, propagated through the network.
namespace engine::test {
namespace {

const TaskGolden& golden() {
    static const TaskGolden file("tasks");
    return file;
}

TensorMap weights_of(const std::string& kind) { return golden().weights(kind); }

/// The sizes of the script's texts and networks.
struct TextSizes {
    TextSizes() {
        const auto sizes = golden().numbers("text");
        words = sizes[0], streams = sizes[1], window = sizes[2], layers = sizes[3];
        hidden = sizes[4];
    }
    std::int64_t words, streams, window, layers, hidden;
};

Schema text_schema(const TextSizes& sizes) {
    Schema schema;
    FieldSpec field{.name = "tokens",
                    .kind = FieldKind::tokens,
                    .dtype = DType::i64,
                    .shape = {sizes.window},
                    .cardinality = sizes.words,
                    .windowed = true};
    schema.add(field);
    field.name = "target";
    field.kind = FieldKind::label;
    schema.add(field);
    return schema;
}

/// The script's batch().
DeviceBatch text_batch(const TextSizes& sizes, std::int64_t number) {
    DeviceBatch batch{{}, sizes.streams, sizes.streams * sizes.window};
    for (std::int64_t ahead = 0; ahead < 2; ++ahead) {
        std::vector<double> tokens;
        for (std::int64_t i = 0; i < batch.samples; ++i)
            tokens.push_back(
                static_cast<double>((5 * i * i + 3 * i + number + ahead) % sizes.words));
        batch.fields.push_back(
            Tensor::of(tokens, {sizes.streams, sizes.window}, DType::i64, Device{}));
    }
    return batch;
}

TensorList first_state(const std::string& cell, const TextSizes& sizes) {
    TensorList state;
    for (std::uint32_t k = 0; k < (cell == "lstm" ? 2 : 1); ++k)
        state.push_back(drawn(100 + k, {sizes.layers, sizes.streams, sizes.hidden}, 0.5));
    return state;
}

RunConfig settings_of(const std::string& precision) { return golden().settings(precision); }

RunConfig text_settings(const std::string& cell, const TextSizes& sizes,
                        const std::string& precision) {
    RunConfig config = settings_of(precision);
    const bool tied = golden().text(cell + ".tied") == "1";
    config.task.kind = "language-model";
    config.model.kind = "rnn-lm";
    config.model.options = {{"cell", cell},           {"tied", tied},
                            {"hidden", sizes.hidden}, {"embedding", tied ? sizes.hidden : 12},
                            {"dropout", 0.0},         {"layers", sizes.layers}};
    return config;
}

void expect_gradients(const StepResult& found, const std::string& kind, const std::string& key) {
    expect_gradients(golden(), found, kind, key);
}

void expect_state(const StepResult& found, const std::string& key) {
    for (std::size_t i = 0; i < found.state.size(); ++i) {
        const std::string name = "/state." + std::to_string(i);
        SCOPED_TRACE(name);
        expect_tensor(found.state[i], golden().figures(key + name));
    }
}

void expect_same_weights(const TensorMap& found, const TensorMap& expected) {
    for (const auto& [name, tensor] : expected)
        EXPECT_EQ(found.at(name).values(), tensor.values()) << name;
}

using CellAndPrecision = std::tuple<std::string, std::string>;
class LanguageModelStep : public testing::TestWithParam<CellAndPrecision> {};

TEST_P(LanguageModelStep, LossGradientsAndStateOfTwoStepsAreTheReferences) {
    const auto& [cell, precision] = GetParam();
    const TextSizes sizes;
    RunConfig config = text_settings(cell, sizes, precision);
    config.optimizer.options["lr"] = 0.0;  // the second step has the same weights
    SingleSteps steps(config, text_schema(sizes), weights_of(cell));
    for (std::int64_t number = 0; number < 2; ++number) {
        const std::string key = cell + "/" + precision + "/" + std::to_string(number);
        SCOPED_TRACE(key);
        const StepResult found = steps.step(text_batch(sizes, number),
                                            number == 0 ? first_state(cell, sizes) : TensorList());
        expect_number(found.loss, golden().figures(key + "/loss"));
        EXPECT_DOUBLE_EQ(found.metrics.front(), std::exp(found.loss)) << "perplexity";
        expect_gradients(found, cell, key);
        expect_state(found, key);
        EXPECT_EQ(found.resets, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelStep,
                         testing::Combine(testing::ValuesIn(golden().list("cells")),
                                          testing::ValuesIn(golden().list("precisions"))),
                         [](const auto& of) {
                             return label(std::get<0>(of.param) + "_" + std::get<1>(of.param));
                         });

class LanguageModelCell : public testing::TestWithParam<std::string> {};

TEST_P(LanguageModelCell, SkippedStepLeavesTheWeightsAndCarriesTheState) {
    const std::string cell = GetParam(), key = cell + "/amp-fp16/";
    const TextSizes sizes;
    RunConfig config = text_settings(cell, sizes, "amp-fp16");
    const double scale = config.scaler.init_scale;
    config.scaler.init_scale = std::ldexp(scale, 30);
    config.scaler.backoff_factor = std::ldexp(1, -30);
    SingleSteps steps(config, text_schema(sizes), weights_of(cell));

    const StepResult skipped = steps.step(text_batch(sizes, 0), first_state(cell, sizes));
    EXPECT_TRUE(skipped.found_inf);
    EXPECT_EQ(skipped.updates, 0);
    EXPECT_EQ(skipped.resets, 0);
    expect_same_weights(steps.weights(), weights_of(cell));
    expect_number(skipped.loss, golden().figures(key + "0/loss"));
    expect_state(skipped, key + "0");

    const StepResult next = steps.step(text_batch(sizes, 1));
    EXPECT_FALSE(next.found_inf);
    EXPECT_EQ(next.updates, 1);
    expect_number(next.loss, golden().figures(key + "1/loss"));
    expect_gradients(next, cell, key + "1");
    expect_state(next, key + "1");
}

INSTANTIATE_TEST_SUITE_P(Cells, LanguageModelCell, testing::ValuesIn(golden().list("cells")),
                         [](const auto& of) { return label(of.param); });

TEST(LanguageModelState, StreamThatOverflowsIsZeroedAndCounted) {
    const std::string cell = "rnn-relu";
    const TextSizes sizes;
    const TensorMap weights = weights_of("overflow");
    const auto stream = std::stoll(golden().list("overflow").at(0));
    const double edge = std::stod(golden().list("overflow").at(1));
    TensorList state = first_state(cell, sizes);
    const auto* row = weights.at("rnn.weight_hh_l0").data_as<float>();
    for (std::int64_t i = 0; i < sizes.hidden; ++i)
        state[0].data_as<float>()[stream * sizes.hidden + i] =
            static_cast<float>(std::copysign(edge, static_cast<double>(row[i])));
    SingleSteps steps(text_settings(cell, sizes, "amp-fp16"), text_schema(sizes), weights);

    const StepResult found = steps.step(text_batch(sizes, 0), state);
    EXPECT_EQ(found.resets, 1);
    EXPECT_TRUE(found.found_inf) << "its loss is not finite";
    expect_same_weights(steps.weights(), weights);
    expect_tensor(found.state[0], golden().figures("overflow/state.0"));
    const std::vector<double> carried = found.state[0].values();
    for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
        const auto first = carried.begin() + (layer * sizes.streams + stream) * sizes.hidden;
        EXPECT_THAT(std::vector<double>(first, first + sizes.hidden), testing::Each(0.0));
    }

    const StepResult next = steps.step(text_batch(sizes, 1));
    EXPECT_EQ(next.resets, 0);
    EXPECT_TRUE(std::isfinite(next.loss)) << "one overflow does not spoil the steps after it";
}

class RegressionStep : public testing::TestWithParam<std::string> {};

TEST_P(RegressionStep, LossGradientsAndMetricsAreTheReferences) {
    const std::string precision = GetParam(), key = "regression/" + precision;
    const auto sizes = golden().numbers("regression.batch");
    RunConfig config = settings_of(precision);
    config.task.kind = "regression";
    config.model.kind = "mlp";
    config.model.options = {{"hidden", std::vector<std::int64_t>{20, 20}}};
    Schema schema;
    schema.add({.name = "features", .kind = FieldKind::features, .shape = {sizes[1]}});
    const auto unit = static_cast<float>(golden().number("regression.unit"));
    schema.add({.name = "target",
                .kind = FieldKind::value,
                .shape = {1},
                .normalization = {.mean = {0}, .deviation = {unit}}});
    SingleSteps steps(config, schema, weights_of("regression"));
    const StepResult found = steps.step(
        {{drawn(200, {sizes[0], sizes[1]}), drawn(201, {sizes[0], 1})}, sizes[0], sizes[0]});
    expect_number(found.loss, golden().figures(key + "/loss"));
    expect_gradients(found, "regression", key);
    expect_number(found.metrics.at(0), golden().figures(key + "/rmse"));
    expect_number(found.metrics.at(1), golden().figures(key + "/r2"));
}

INSTANTIATE_TEST_SUITE_P(Precisions, RegressionStep, testing::ValuesIn(golden().list("precisions")),
                         [](const auto& of) { return label(of.param); });

}  // namespace
}  // namespace engine::test
