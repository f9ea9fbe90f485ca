#include "io/coco/coco_results.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "temp_folder.h"

namespace engine {
namespace {

nlohmann::json results_in(const std::filesystem::path& file) {
    std::ifstream in(file);
    return nlohmann::json::parse(in);
}

TEST(CocoResults, BoxesKeepAllTheirDigits) {
    const test_support::TempFolder folder;
    const auto file = folder.path() / "a.bbox.json";
    const double third = 1.0 / 3;
    {
        CocoResultsWriter writer(file);
        writer.add_box(std::int64_t{7}, 18, third, {1.5, third, 20, 1e-7});
        writer.add_box("a \"b\"", 2, 1, {0, 0, 1, 1});
        EXPECT_FALSE(std::filesystem::exists(file));
        writer.commit();
    }
    const auto results = results_in(file);
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0]["image_id"], 7);
    EXPECT_EQ(results[0]["category_id"], 18);
    EXPECT_EQ(results[0]["score"].get<double>(), third);
    EXPECT_EQ(results[0]["bbox"].get<std::vector<double>>(),
              (std::vector<double>{1.5, third, 20, 1e-7}));
    EXPECT_EQ(results[1]["image_id"], "a \"b\"");
}

TEST(CocoResults, MasksHaveNoBoxAndManyAreWrittenInPieces) {
    const test_support::TempFolder folder;
    const auto file = folder.path() / "a.segm.json";
    const RunLength mask = fill_polygon(std::vector<double>{10, 10, 30, 10, 20, 30}, 44, 40);
    const int count = 20'000;
    CocoResultsWriter writer(file);
    for (int i = 0; i < count; ++i) writer.add_mask(std::int64_t{i}, 1, 0.5, mask);
    writer.commit();
    const auto results = results_in(file);
    ASSERT_EQ(results.size(), static_cast<std::size_t>(count));
    const auto& last = results.back();
    EXPECT_EQ(last["image_id"], count - 1);
    EXPECT_FALSE(last.contains("bbox"));
    EXPECT_EQ(last["segmentation"]["size"], (std::vector<int>{44, 40}));
    EXPECT_EQ(read_run_length(last["segmentation"]["counts"].get<std::string>(), 44, 40), mask);
}

TEST(CocoResults, NoDetectionsAreAnEmptyList) {
    const test_support::TempFolder folder;
    CocoResultsWriter writer(folder.path() / "a.json");
    writer.commit();
    EXPECT_TRUE(results_in(folder.path() / "a.json").empty());
}

}  // namespace
}  // namespace engine
