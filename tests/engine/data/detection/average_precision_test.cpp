#include "data/detection/average_precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/data/detection/drawn_pictures.h"
#include "support/golden_lines.h"

// Values of pycocotools: tests/peer/coco_metric.py, which draws the same sets.
namespace engine {
namespace {

using test_support::golden_lines;

constexpr const char* metric_cases = "coco_metric.txt.xz";

/// The figures of a line: boxes, masks, then AP by class of both; -1 where there is no value.
std::vector<double> all_figures(std::span<const PictureMatches> pictures, int classes) {
    std::vector<double> values, by_class;
    for (const auto kind : {OverlapKind::box, OverlapKind::mask}) {
        const PrecisionFigures figures = average_precision(pictures, kind, classes);
        values.insert(values.end(), figures.values.begin(), figures.values.end());
        for (const ClassPrecision& each : figures.classes) by_class.push_back(each.ap);
    }
    values.insert(values.end(), by_class.begin(), by_class.end());
    for (double& each : values) each = std::isnan(each) ? -1 : each;
    return values;
}

void expect_figures(const std::vector<double>& ours, std::span<const std::string> words,
                    const std::string& name) {
    ASSERT_EQ(ours.size(), words.size()) << name;
    for (std::size_t i = 0; i < ours.size(); ++i)
        EXPECT_NEAR(ours[i], std::stod(words[i]), 1e-9) << name << ", figure " << i;
}

TEST(AveragePrecision, DrawnSetsHaveThe24FiguresOfPycocotools) {
    const auto cases = golden_lines(metric_cases, "set");
    ASSERT_EQ(cases.size(), 300U);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        int classes = 0;
        const auto pictures = drawn::pictures(static_cast<int>(i), classes);
        expect_figures(all_figures(drawn::matches(pictures), classes), cases[i],
                       "set " + std::to_string(i));
    }
}

/// Reads a set of a line `edge` and moves `at` behind it.
std::vector<drawn::Picture> edge_pictures(const std::vector<std::string>& words, std::size_t& at) {
    const auto number = [&] { return std::stod(words.at(at++)); };
    const auto whole = [&] { return std::stoi(words.at(at++)); };
    const auto box = [&] {
        drawn::Box sides{};
        for (double& each : sides) each = number();
        return sides;
    };
    std::vector<drawn::Picture> pictures(static_cast<std::size_t>(whole()));
    for (drawn::Picture& picture : pictures) {
        auto& truth = picture.truth;
        truth.height = whole();
        truth.width = whole();
        truth.annotations.resize(static_cast<std::size_t>(whole()));
        const int detections = whole();
        for (auto& each : truth.annotations) {
            each.label = whole();
            each.box = box();
            const std::string area = words.at(at++);
            each.crowd = whole() != 0;
            each.mask = drawn::shape(whole(), each.box);
            each.area =
                area == "-" ? measured_area(each, truth.height, truth.width) : std::stod(area);
        }
        for (int i = 0; i < detections; ++i) {
            const int label = whole();
            const double score = number();
            const auto place = box();
            picture.detections.push_back(drawn::detection(label, score, place, whole(), truth));
        }
    }
    return pictures;
}

TEST(AveragePrecision, EdgesAreThoseOfPycocotools) {
    const auto cases = golden_lines(metric_cases, "edge");
    ASSERT_GE(cases.size(), 16U);
    for (const auto& words : cases) {
        const int classes = std::stoi(words.at(1));
        std::size_t at = 2;
        const auto pictures = edge_pictures(words, at);
        expect_figures(all_figures(drawn::matches(pictures), classes), std::span(words).subspan(at),
                       words[0]);
    }
}

TEST(AveragePrecision, ThresholdsAreThoseOfLinspace) {
    EXPECT_EQ(overlap_threshold(0), 0.5);
    EXPECT_EQ(overlap_threshold(8), 0.8999999999999999);
    EXPECT_EQ(overlap_threshold(9), 0.95);
}

/// A picture of 60 × 60 with one truth of class 1.
DetectionTruth one_square() {
    DetectionTruth truth{.image_id = std::int64_t{1}, .height = 60, .width = 60};
    truth.annotations.push_back({.label = 1, .box = {10, 10, 20, 20}, .area = 400});
    return truth;
}

double box_ap(const DetectionTruth& truth, const std::vector<Detection>& detections) {
    const PictureMatches matches = match_picture(0, truth, detections, false);
    return average_precision(std::span(&matches, 1), OverlapKind::box, 1).values[0];
}

TEST(AveragePrecision, DifficultTruthsTakeAnyNumberOfDetections) {
    DetectionTruth truth = one_square();
    truth.annotations.push_back(
        {.label = 1, .box = {40, 40, 10, 10}, .area = 100, .difficult = true});
    std::vector<Detection> detections(3, {.label = 1, .score = 0.9, .box = {40, 40, 10, 10}});
    detections.push_back({.label = 1, .score = 0.5, .box = {10, 10, 20, 20}});
    EXPECT_NEAR(box_ap(truth, detections), 1, 1e-12);
    // The overlap is the usual one: a small part of it is a wrong detection, unlike in a crowd.
    detections.push_back({.label = 1, .score = 0.8, .box = {42, 42, 3, 3}});
    EXPECT_NEAR(box_ap(truth, detections), 0.5, 1e-12);
    truth.annotations.back().crowd = true;
    EXPECT_NEAR(box_ap(truth, detections), 1, 1e-12);
}

TEST(AveragePrecision, NanScoresAreDropped) {
    EXPECT_EQ(box_ap(one_square(), {{.label = 1, .score = std::nan(""), .box = {10, 10, 20, 20}}}),
              0);
}

TEST(AveragePrecision, ABoxThatIsNotFiniteFindsNothing) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const drawn::Box& box :
         {drawn::Box{nan, 10, 20, 20}, {10, 10, nan, 20}, {10, 10, 20, nan}})
        EXPECT_EQ(box_ap(one_square(), {{.label = 1, .score = 0.9, .box = box}}), 0);
}

TEST(AveragePrecision, TruthsWithoutAMaskCountForBoxesAlone) {
    DetectionTruth truth = one_square();
    const PictureMatches matches = match_picture(0, truth, {}, true);
    const std::span one(&matches, 1);
    EXPECT_EQ(average_precision(one, OverlapKind::box, 1).classes[0].truths, 1);
    EXPECT_EQ(average_precision(one, OverlapKind::mask, 1).classes[0].truths, 0);
    EXPECT_TRUE(std::isnan(average_precision(one, OverlapKind::mask, 1).values[0]));
}

}  // namespace
}  // namespace engine
