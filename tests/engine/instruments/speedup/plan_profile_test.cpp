#include "engine/instruments/plan_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/settings/catalog.h"
#include "support/device_support.h"

namespace engine {
namespace {

using testing::HasSubstr;

/// A product of 1e9 operations.
XrayOp product(const char* engine, double us, std::int64_t rows = 64) {
    XrayOp op;
    op.op = "linear";
    op.inputs = {{"f16", {rows, 32}}, {"f16", {16, 32}}};
    op.outputs = {{"f16", {rows, 16}}};
    op.compute_dtype = "f16";
    op.us = us;
    op.flops = 1e9;
    op.bytes_read = op.bytes_written = 1'000'000;
    op.engine = engine;
    return op;
}

const std::map<std::string, double> peaks{{"f16", 1e14}, {"f32", 1e13}};  // 10 us in f16

TEST(PlanProfile, AddsUpRunsOfOnePlanAndTakesTheLeastTimeOfEach) {
    const PlanProfile profile =
        make_profile({{product("a", 100), product("a", 30), product("b", 40)},
                      {product("a", 50), product("a", 60), product("b", 80)}},
                     peaks);
    ASSERT_EQ(profile.rows.size(), 2u);
    const PlanRow& a = profile.rows[0];
    EXPECT_EQ(a.engine, "a");
    EXPECT_EQ(a.runs, 2);
    EXPECT_EQ(a.us, 50 + 30);
    EXPECT_EQ(a.flops, 2e9);
    EXPECT_NEAR(a.peak_share, 20.0 / 80, 1e-12);
    EXPECT_NEAR(a.lost_us, 60, 1e-9);
    EXPECT_EQ(profile.rows[1].us, 40);
}

TEST(PlanProfile, ListsWhatLosesTheMostFirst) {
    // The slowest of all is a large product near the peak.
    XrayOp large = product("large", 110, 640);
    large.flops = 1e10;
    const PlanProfile profile =
        make_profile({{product("small", 35), large, product("fast", 10, 32)}}, peaks);
    ASSERT_EQ(profile.rows.size(), 3u);
    EXPECT_EQ(profile.rows[0].engine, "small");
    EXPECT_EQ(profile.rows[1].engine, "large");
    EXPECT_EQ(profile.rows[2].engine, "fast");
    EXPECT_EQ(profile.rows[2].lost_us, 0);
}

TEST(PlanProfile, KeepsShapesTypesAndPassesApart) {
    XrayOp backward = product("a", 1), wide = product("a", 1);
    backward.pass = XrayPass::backward;
    wide.compute_dtype = "f32";
    EXPECT_EQ(
        make_profile({{product("a", 1), product("a", 1, 32), backward, wide}}, peaks).rows.size(),
        4u);
}

TEST(PlanProfile, LeavesOutCastsAndWhatWaitsForMemory) {
    XrayOp cast = product("a", 100), add = product("", 5), update = product("a", 5),
           tiny = product("a", 5);
    cast.casts.push_back({"f32", "f16", 1, 1, 60});
    add.flops = 1e5;
    update.pass = XrayPass::update;
    tiny.flops = 100;
    const PlanProfile profile = make_profile({{cast, add, update, tiny}}, peaks);
    ASSERT_EQ(profile.rows.size(), 1u);
    EXPECT_EQ(profile.rows[0].us, 40);
}

TEST(PlanProfile, HasNoShareOfAPeakThatIsNotKnown) {
    XrayOp op = product("a", 5);
    op.compute_dtype = "f64";
    const PlanProfile profile = make_profile({{op}}, peaks);
    EXPECT_TRUE(std::isnan(profile.rows.at(0).peak_share));
    EXPECT_EQ(profile.rows[0].lost_us, 0);
    EXPECT_TRUE(
        nlohmann::json::parse(to_json(profile)).at("plans").at(0).at("peak_share").is_null());
}

TEST(PlanProfile, PrintsTheTenWorstAndWritesAll) {
    std::vector<XrayOp> ops;
    for (int i = 0; i < 12; ++i) ops.push_back(product("", 100 - i, 100 + i));
    PlanProfile profile = make_profile({ops}, peaks);
    profile.device = "cpu";
    const std::string text = text_of(profile);
    EXPECT_THAT(text, HasSubstr("12 that take"));
    EXPECT_THAT(text, HasSubstr("100x32"));
    EXPECT_THAT(text, HasSubstr("109x32"));
    EXPECT_THAT(text, testing::Not(HasSubstr("110x32")));
    EXPECT_THAT(text, HasSubstr(" own "));
    EXPECT_THAT(text, HasSubstr("10000.0"));  // GFLOP/s of the first
    EXPECT_THAT(text, HasSubstr("10.0 %"));
    const auto json = nlohmann::json::parse(to_json(profile));
    EXPECT_EQ(json.at("event"), "plan_profile");
    ASSERT_EQ(json.at("plans").size(), 12u);
    const auto& first = json.at("plans")[0];
    EXPECT_EQ(first.at("op"), "linear");
    EXPECT_EQ(first.at("us"), 100);
    EXPECT_NEAR(first.at("flops_per_s").get<double>(), 1e13, 1);
    EXPECT_EQ(first.at("inputs")[0].at("shape"), (std::vector<int>{100, 32}));
}

/// LeNet on glyphs, batch 32, counted by hand: conv1 has 6 channels of 24x24 from 25 taps of one,
/// conv2 16 channels of 8x8 from 25 taps of 6.
TEST(PlanProfile, ListsTheProductsOfAStepOnThisMachine) {
    RunConfig config;
    config.precision.preset = "fp32";
    config.batch_size = 32;
    config.threads = 1;
    config.device = "cpu";
    const PlanProfile profile = profile_plans(completed(config));
    EXPECT_EQ(profile.device, "cpu");
    EXPECT_GT(profile.step_ms, 0);
    std::int64_t convolutions = 0, by_onednn = 0;
    double forward_flops = 0;
    for (const PlanRow& row : profile.rows) {
        EXPECT_GT(row.us, 0) << row.op;
        EXPECT_GT(row.peak_share, 0) << row.op;
        if (row.op != "conv2d" && !row.op.ends_with("_gradient")) continue;
        convolutions += row.runs;
        by_onednn += row.engine.starts_with("oneDNN ");
        if (row.pass == XrayPass::forward) forward_flops += row.flops;
    }
    EXPECT_EQ(convolutions, 5) << "conv1 needs no gradient of its pictures";
    EXPECT_GT(by_onednn, 0) << "the others are our own kernels'";
    const double conv1 = 2.0 * 32 * 6 * 24 * 24 * 25, conv2 = 2.0 * 32 * 16 * 8 * 8 * 25 * 6;
    EXPECT_EQ(forward_flops, conv1 + conv2);
}

/// An LSTM of 256 on 20 x 35 characters, counted by hand: a product with the input's weights and
/// one with the hidden ones forward, and twice as many backward, of which the input's are products
/// of their own.
TEST(PlanProfile, CountsTheProductsOfALanguageModelInBothPasses) {
    RunConfig config = test::small_text_run("fp32");
    config.model.options["embedding"] = std::int64_t{256};
    config.model.options["hidden"] = std::int64_t{256};
    config.batch_size = 20;
    config.bptt = 35;
    config.dataset.train_limit = 20000;
    config.device = "cpu";
    std::map<std::string, double> flops;
    for (const PlanRow& row : profile_plans(completed(config)).rows)
        flops[row.op + (row.pass == XrayPass::forward ? "" : " back")] += row.flops;
    const double words = flops["linear"] / (2.0 * 700 * 256);  // of the output layer
    EXPECT_GT(words, 20);
    const double one = 2.0 * 700 * 256 * 1024;  // each row meets one matrix of the cell
    EXPECT_EQ(flops["lstm"], 2 * one);
    EXPECT_EQ(flops["recurrent_layer_backward back"], 2 * one);
    EXPECT_EQ(flops["mm back"], 2 * one + 2 * flops["linear"]);
}

}  // namespace
}  // namespace engine
