#include "data/detection/detection_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/detection/confusion.h"
#include "engine/base/error.h"
#include "engine/data/detection/drawn_pictures.h"
#include "temp_folder.h"

namespace engine {
namespace {

/// The bits of all figures.
std::vector<double> figures(std::span<const PictureMatches> pictures, int classes) {
    std::vector<double> out;
    for (const auto kind : {OverlapKind::box, OverlapKind::mask}) {
        const PrecisionFigures figures = average_precision(pictures, kind, classes);
        out.insert(out.end(), figures.values.begin(), figures.values.end());
        for (const ClassPrecision& each : figures.classes) {
            out.push_back(each.ap);
            out.insert(out.end(), each.curve50.begin(), each.curve50.end());
        }
        out.push_back(best_f1(pictures, kind).score);
        for (const PictureErrors& each : most_errors(pictures, kind, 9))
            out.push_back(static_cast<double>(each.sample));
    }
    for (const auto& [pair, count] : confusion_counts(pictures))
        out.push_back(static_cast<double>(pair[0] * 1000 + pair[1]) +
                      static_cast<double>(count) / 64);
    for (double& each : out) each = std::isnan(each) ? -1 : each;
    return out;
}

TEST(DetectionResults, PartsOfRanksGiveTheFiguresOfOnePass) {
    int classes = 0;
    const auto matches = drawn::matches(drawn::pictures(11, classes));
    ASSERT_GT(matches.size(), 5U);
    const auto whole = figures(matches, classes);
    for (const std::size_t ranks : {1U, 2U, 3U}) {
        // The last rank has nothing; samples go round.
        std::vector<DetectionResults> parts(ranks + 1);
        for (std::size_t i = 0; i < matches.size(); ++i) parts[i % ranks].add(matches[i]);
        EXPECT_TRUE(parts.back().packed().empty());
        for (std::size_t i = 1; i < parts.size(); ++i) parts[0].merge(parts[i].packed());
        EXPECT_EQ(figures(parts[0].pictures(), classes), whole) << ranks;
        // A sample that two ranks computed counts once.
        parts[0].merge(parts[0].packed());
        EXPECT_EQ(parts[0].pictures().size(), matches.size());
    }
}

TEST(DetectionResults, IdsAsNumbersSortByValueOthersBySample) {
    DetectionResults numbers, texts;
    const std::array<std::int64_t, 3> ids = {100, 20, 3};
    for (std::int64_t i = 0; i < 3; ++i) {
        numbers.add({.sample = i, .image_id = ids[static_cast<std::size_t>(i)]});
        texts.add({.sample = 2 - i, .image_id = std::to_string(i)});
    }
    EXPECT_EQ(numbers.pictures()[0].image_id, ImageId(std::int64_t{3}));
    EXPECT_EQ(texts.pictures()[0].image_id, ImageId("2"));
    DetectionResults other;
    other.merge(texts.packed());
    EXPECT_EQ(other.pictures()[2].image_id, ImageId("0"));
}

TEST(DetectionResults, DamagedBytesAreRefused) {
    int classes = 0;
    DetectionResults results;
    for (auto& each : drawn::matches(drawn::pictures(3, classes))) results.add(std::move(each));
    const auto bytes = results.packed();
    for (const std::size_t size : {std::size_t{1}, bytes.size() / 2, bytes.size() - 1})
        EXPECT_THROW(DetectionResults().merge(std::span(bytes).first(size)), Error) << size;
}

TEST(ResultFiles, HoldDetectionsUnderTheNumbersOfTheirClasses) {
    const test_support::TempFolder folder;
    const RunLength mask = fill_polygon(std::vector<double>{1, 1, 5, 1, 5, 5}, 8, 8);
    const std::vector<Detection> found{
        {.label = 2, .score = 0.5, .box = {1, 2, 3, 4}, .mask = mask}};
    ResultFiles numbered(folder.path() / "a", {1, 18}, true), plain(folder.path() / "b", {}, false);
    numbered.add(std::int64_t{7}, found);
    plain.add("x", found);
    const auto entry = [](const std::filesystem::path& file) {
        std::ifstream in(file);
        return nlohmann::json::parse(in).at(0);
    };
    const auto files = numbered.commit();
    EXPECT_THAT(files, testing::ElementsAre(folder.path() / "a.bbox.json",
                                            folder.path() / "a.segm.json"));
    EXPECT_EQ(entry(files[0])["category_id"], 18);
    EXPECT_EQ(entry(files[0])["bbox"], (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(entry(files[1])["image_id"], 7);
    EXPECT_EQ(entry(files[1])["segmentation"]["counts"], run_length_text(mask));
    EXPECT_THAT(plain.commit(), testing::ElementsAre(folder.path() / "b.bbox.json"));
    EXPECT_EQ(entry(folder.path() / "b.bbox.json")["category_id"], 2);
}

}  // namespace
}  // namespace engine
