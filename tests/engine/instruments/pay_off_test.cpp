#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/pay_off.h"

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

TEST(PayOff, MeasuresBothSidesInTurnsAndExplains) {
    PayOffOptions options;
    options.pairs = 3;
    options.block_ms = 5;
    const auto rows = measure_pay_off(spirals(), options);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].precision, "amp-bf16");
    EXPECT_EQ(rows[1].precision, "amp-fp16");
    for (const PayOff& row : rows) {
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

TEST(PayOff, EndsEarlyWithTheRowsThatItHas) {
    PayOffOptions options;
    options.block_ms = 1;
    options.goes_on = [] { return false; };
    EXPECT_TRUE(measure_pay_off(spirals(), options).empty());
}

TEST(PayOff, WritesATableAndJson) {
    PayOffOptions options;
    options.precisions = {"amp-bf16"};
    options.pairs = 1;
    options.block_ms = 1;
    const auto rows = measure_pay_off(spirals(), options);
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_THAT(text_of(rows), HasSubstr("mlp: amp-bf16"));
    EXPECT_THAT(markdown_of(rows), HasSubstr("| mlp | amp-bf16 | 32 |"));
    const auto json = nlohmann::json::parse(to_json(rows[0]));
    EXPECT_EQ(json.at("model"), "mlp");
    EXPECT_EQ(json.at("pays"), rows[0].pays());
    EXPECT_EQ(json.at("reason"), name_of(rows[0].reason));
    EXPECT_EQ(json.at("parts").at("brief_ops"), rows[0].amp.brief_ops);
}

TEST(PayOff, TheListOfModelsIsOnGeneratedDataAndInTheCatalog) {
    const auto all = pay_off_settings();
    EXPECT_GE(all.size(), 9U);
    for (const RunConfig& config : all) EXPECT_TRUE(config.dataset.path.empty());
}

}  // namespace
}  // namespace engine
