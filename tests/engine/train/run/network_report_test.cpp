#include "engine/train/network_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace engine {
namespace {

using nlohmann::json;

const NetworkData features{{{"features", {4}, {}}}, 3, {}};

TEST(NetworkReport, JsonHasShapesTypesAndCostsOfEachLayer) {
    RunConfig config;
    config.batch_size = 16;
    config.precision.preset = "amp-fp16";
    const auto report = report_network("network(features):\n  fc1: Linear(8)\n  ReLU\n  Linear(outputs)\n", features, config);
    const json out = json::parse(network_to_json(report, "a.network"));
    EXPECT_EQ(out.at("file"), "a.network");
    EXPECT_EQ(out.at("usable"), true);
    EXPECT_EQ(out.at("memory").at("batch_size"), 16);
    EXPECT_EQ(out.at("memory").at("peak"), report.memory.peak);
    ASSERT_EQ(out.at("layers").size(), 3u);
    const json& first = out.at("layers").at(0);
    EXPECT_EQ(first.at("module"), "fc1");
    EXPECT_EQ(first.at("shape"), "N x 8");
    EXPECT_EQ(first.at("parameters"), 4 * 8 + 8);
    EXPECT_EQ(first.at("type"), "f16");
    EXPECT_EQ(first.at("saved_bytes"), report.memory.saved[0]);
    EXPECT_EQ(out.at("layers").at(2).at("inputs"), json({1}));
    EXPECT_EQ(out.at("state").at(0).at("name"), "fc1.weight");
}

TEST(NetworkReport, ATextWithAFaultHasItsFaultsAndNoPrediction) {
    const auto report = report_network("network(features):\n  fc1: Linear(8)\n  Dense(3)\n", features, {});
    EXPECT_FALSE(report.network.usable());
    EXPECT_TRUE(report.operations.empty());
    EXPECT_EQ(report.memory.saved.size(), report.network.rows.size());
    const json out = json::parse(network_to_json(report, "a.network"));
    EXPECT_EQ(out.at("faults").at(0).at("line"), 3);
    EXPECT_TRUE(out.at("memory").is_null());
    EXPECT_TRUE(out.at("layers").at(0).at("saved_bytes").is_null());
}

}  // namespace
}  // namespace engine
