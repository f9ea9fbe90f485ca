#include "data/detection/confusion.h"

#include <gtest/gtest.h>

#include <cmath>

namespace engine {
namespace {

/// Three classes: a square of each, 20 pixels a side, side by side; a crowd of class 1 below.
DetectionTruth three_squares() {
    DetectionTruth truth{.image_id = std::int64_t{1}, .height = 100, .width = 100};
    for (int i = 0; i < 3; ++i)
        truth.annotations.push_back({.label = i + 1, .box = {30.0 * i, 0, 20, 20}, .area = 400});
    truth.annotations.push_back({.label = 1, .box = {0, 50, 90, 40}, .area = 3600, .crowd = true});
    return truth;
}

Detection at(double x, double y, int label, double score) {
    return {.label = label, .score = score, .box = {x, y, 20, 20}};
}

TEST(Confusion, PairsWithBackgroundInTheLastRowAndColumn) {
    const std::vector<Detection> detections = {
        at(0, 0, 1, 0.9),     // right
        at(31, 0, 3, 0.8),    // class 2 taken for 3
        at(2, 0, 1, 0.7),     // a second one, of less overlap: background
        at(10, 60, 1, 0.9),   // on the crowd
        at(60, 0, 3, 0.249),  // too low
        at(70, 25, 2, 0.25),  // nothing there
    };
    const PictureMatches matches = match_picture(0, three_squares(), detections, false);
    const auto counts = confusion_counts(std::span(&matches, 1));
    const std::map<std::array<std::int32_t, 2>, std::int64_t> expected = {
        {{1, 1}, 1}, {{2, 3}, 1}, {{3, 0}, 1}, {{0, 1}, 1}, {{0, 2}, 1}};
    EXPECT_EQ(counts, expected);
}

TEST(Confusion, TheLargestOverlapDecidesNotTheScore) {
    const auto pairs =
        find_confusions(three_squares(), std::vector{at(3, 0, 2, 0.9), at(1, 0, 1, 0.3)});
    EXPECT_EQ(pairs.at(0), (std::array<std::int32_t, 2>{1, 1}));
}

TEST(Confusion, ABoxThatIsNotFiniteLiesOnTheBackground) {
    const auto pairs = find_confusions(three_squares(),
                                       std::vector{at(std::nan(""), 0, 1, 0.9), at(0, 0, 1, 0.5)});
    const std::vector<std::array<std::int32_t, 2>> expected = {{1, 1}, {2, 0}, {3, 0}, {0, 1}};
    EXPECT_EQ(pairs, expected);
}

TEST(Confusion, BestF1TakesAllDetectionsOfAScore) {
    // By score: right 0.9; wrong 0.8; right and right 0.7; wrong 0.1.
    const std::vector<Detection> detections = {at(0, 0, 1, 0.9), at(70, 25, 1, 0.8),
                                               at(30, 0, 2, 0.7), at(60, 0, 3, 0.7),
                                               at(70, 25, 2, 0.1)};
    const PictureMatches matches = match_picture(0, three_squares(), detections, false);
    const BestF1 best = best_f1(std::span(&matches, 1), OverlapKind::box);
    EXPECT_EQ(best.score, 0.7);
    EXPECT_DOUBLE_EQ(best.f1, 6.0 / 7);
    EXPECT_DOUBLE_EQ(best.precision, 3.0 / 4);
    EXPECT_DOUBLE_EQ(best.recall, 1);
    const PictureMatches none = match_picture(0, three_squares(), {}, false);
    EXPECT_EQ(best_f1(std::span(&none, 1), OverlapKind::box).f1, 0);
}

TEST(Confusion, PicturesWithMostErrorsComeFirst) {
    const std::vector<Detection> right = {at(0, 0, 1, 0.9), at(30, 0, 2, 0.9), at(60, 0, 3, 0.9)};
    std::vector<Detection> wrong = right;
    wrong.push_back(at(70, 25, 2, 0.75));
    wrong.push_back(at(10, 60, 1, 0.9));  // on the crowd: no error
    const std::vector<PictureMatches> pictures = {
        match_picture(4, three_squares(), right, false),
        match_picture(5, three_squares(), wrong, false),
        match_picture(6, three_squares(), std::span(right).first(2), false)};
    const auto errors = most_errors(pictures, OverlapKind::box, 9);
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].sample, 6);
    EXPECT_EQ(errors[0].missed, 1);
    EXPECT_EQ(errors[1].sample, 5);
    EXPECT_EQ(errors[1].missed, 0);
    EXPECT_EQ(errors[1].false_scores, 0.75);
    EXPECT_EQ(most_errors(pictures, OverlapKind::box, 1).size(), 1U);
}

}  // namespace
}  // namespace engine
