#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/instruments/speedup.h"
#include "engine/train/batch_finder.h"

namespace engine {
namespace {

using testing::HasSubstr;

RunConfig spirals() {
    RunConfig config;
    config.dataset.kind = "spirals";
    config.model.kind = "mlp";
    config.batch_size = 32;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

TEST(Speedup, MeasuresBothSidesInTurnsAndExplains) {
    SpeedupOptions options;
    options.pairs = 3;
    options.block_ms = 5;
    const auto rows = measure_speedup(spirals(), options);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].precision, "amp-bf16");
    EXPECT_EQ(rows[1].precision, "amp-fp16");
    for (const Speedup& row : rows) {
        EXPECT_GT(row.fp32_ms, 0);
        EXPECT_GT(row.amp_ms, 0);
        EXPECT_LE(row.least, row.speed_up);
        EXPECT_GE(row.most, row.speed_up);
        EXPECT_GT(row.amp_bytes, 0);
        EXPECT_NEAR(row.fp32.total(), row.fp32_ms, 1e-9 * row.fp32_ms);
        EXPECT_NEAR(row.amp.total(), row.amp_ms, 1e-9 * row.amp_ms);
        EXPECT_GT(row.amp.casts, 0) << "an AMP step of an MLP casts its input";
        EXPECT_FALSE(row.sentence.empty());
    }
    EXPECT_EQ(rows[0].fp32.casts, 0);
}

TEST(Speedup, EndsEarlyWithTheRowsThatItHas) {
    SpeedupOptions options;
    options.block_ms = 1;
    options.goes_on = [](const SpeedupProgress&) { return false; };
    EXPECT_TRUE(measure_speedup(spirals(), options).empty());
    options.pairs = 2;
    options.goes_on = [](const SpeedupProgress& at) { return at.precision == "amp-bf16"; };
    const auto rows = measure_speedup(spirals(), options);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].precision, "amp-bf16");
}

TEST(Speedup, FindsTheLargestBatchOfEachPrecisionWithinOneLimit) {
    SpeedupOptions options;
    options.precisions = {"amp-bf16"};
    options.pairs = 1;
    options.block_ms = 1;
    options.batch_memory = 3'000'000;
    std::vector<std::int64_t> tried;
    options.goes_on = [&](const SpeedupProgress& at) {
        if (at.batch_size > 0) tried.push_back(at.batch_size);
        return true;
    };
    const auto rows = measure_speedup(spirals(), options);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].batch_memory, 3'000'000);
    FindBatchOptions find;
    find.memory = 3'000'000;
    find.beyond_data = true;
    RunConfig config = spirals();
    config.precision.preset = "fp32";
    EXPECT_EQ(rows[0].fp32_largest_batch, find_largest_batch(config, find).batch_size);
    config.precision.preset = "amp-bf16";
    EXPECT_EQ(rows[0].largest_batch, find_largest_batch(config, find).batch_size);
    EXPECT_THAT(tried, testing::Contains(rows[0].largest_batch));
    EXPECT_THAT(text_of(rows), HasSubstr("largest batch in 3.00 MB"));
}

TEST(Speedup, SaysOfALimitThatNotEvenOneSampleFits) {
    SpeedupOptions options;
    options.precisions = {"amp-bf16"};
    options.pairs = 1;
    options.block_ms = 1;
    options.batch_memory = 1'000;
    const auto rows = measure_speedup(spirals(), options);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].batch_memory, 1'000);
    EXPECT_EQ(rows[0].fp32_largest_batch, 0);
    EXPECT_EQ(rows[0].largest_batch, 0);
}

TEST(Speedup, WritesATableAndJson) {
    SpeedupOptions options;
    options.precisions = {"amp-bf16"};
    options.pairs = 1;
    options.block_ms = 1;
    const auto rows = measure_speedup(spirals(), options);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_THAT(text_of(rows), HasSubstr("mlp: amp-bf16"));
    EXPECT_THAT(to_markdown(rows), HasSubstr("| mlp | amp-bf16 | 32 |"));
    const auto json = nlohmann::json::parse(to_json(rows[0]));
    EXPECT_EQ(json.at("model"), "mlp");
    EXPECT_EQ(json.at("pays"), rows[0].pays());
    EXPECT_EQ(json.at("reason"), name(rows[0].reason));
    EXPECT_EQ(json.at("parts").at("brief_ops"), rows[0].amp.brief_ops);
    EXPECT_FALSE(json.contains("largest_batch")) << "it was not searched";
}

TEST(Speedup, ItsJsonTellsTheLimitOfTheSearchFromAResult) {
    Speedup row;
    row.batch_memory = 4'000'000'000;
    row.fp32_largest_batch = max_batch_tried - 1;
    row.largest_batch = max_batch_tried;
    const auto json = nlohmann::json::parse(to_json(row));
    EXPECT_EQ(json.at("fp32_largest_batch_at_least"), false);
    EXPECT_EQ(json.at("largest_batch_at_least"), true);
    EXPECT_THAT(text_of({row}), HasSubstr("≥ 1048576"));
    row.batch_memory = 0;
    EXPECT_FALSE(nlohmann::json::parse(to_json(row)).contains("largest_batch_at_least"));
}

TEST(Speedup, IsReadBackFromItsJson) {
    Speedup row;
    row.model = "mlp";
    row.precision = "amp-fp16";
    row.batch_size = 32;
    row.fp32_ms = 10;
    row.amp_ms = 9.5;
    row.speed_up = 1.01;
    row.least = 0.98;
    row.most = 1.1;
    row.fp32_bytes = 3'000'000'000;
    row.amp_bytes = 2'000'000'000;
    row.batch_memory = 4'000'000'000;
    row.fp32_largest_batch = 40;
    row.largest_batch = 70;
    row.fp32 = {.products = 6, .memory = 4};
    row.amp = {.products = 3, .memory = 4, .casts = 2.5, .cast_bytes = 9};
    row.peaks = {{"f16", 3e11}, {"f32", 1e11}};
    explain(row);
    const auto read = parse_speedup(to_json(row));
    ASSERT_TRUE(read);
    EXPECT_EQ(to_json(*read), to_json(row));
    EXPECT_EQ(read->sentence.str(), row.sentence.str());
    EXPECT_FALSE(parse_speedup("{}"));
    EXPECT_FALSE(parse_speedup("no JSON"));
}

TEST(Speedup, SettingsThatDoNotChangeTheSpeedOfAStepShareAMeasurement) {
    const RunConfig first = spirals();
    RunConfig second = first;
    second.precision.preset = "pure-fp16";
    second.epochs = 50;
    second.seed = 7;
    second.optimizer.options["lr"] = 0.5;
    EXPECT_EQ(speed_settings(first), speed_settings(second));
    EXPECT_EQ(speed_settings(speed_settings(first)), speed_settings(first));
    second.batch_size = 64;
    EXPECT_NE(speed_settings(first), speed_settings(second));
    EXPECT_TRUE(validate(speed_settings(first)).empty());
}

TEST(Speedup, TheListOfModelsIsOnGeneratedDataAndInTheCatalog) {
    const auto all = speedup_settings();
    EXPECT_GE(all.size(), 9U);
    for (const RunConfig& config : all) EXPECT_TRUE(config.dataset.path.empty());
}

}  // namespace
}  // namespace engine
