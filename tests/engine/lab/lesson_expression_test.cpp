#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "engine/base/error.h"
#include "engine/lab/lesson_expression.h"

namespace engine {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Measurements with the values that a test gives.
class Stated final : public LessonMeasurements {
public:
    std::map<std::string, std::vector<double>> columns;
    std::map<std::string, double> results;
    bool over = true;

    std::vector<double> column(const std::string& run, const std::string& column) const override {
        return columns.at(run + "." + column);
    }
    std::optional<double> result(const std::string& run, const std::string& key) const override {
        if (!over) return std::nullopt;
        return results.at(run + "." + key);
    }
    std::optional<std::string> xray(const std::string&, const std::string& op,
                                    const std::string& field) const override {
        return op == "fc1:linear" && field == "output" ? "fp16" : "none";
    }
    std::optional<LessonValue> skip(const std::string&, const std::string& field) const override {
        if (field == "step") return 3.0;
        return "bad_input";
    }
    bool ended(const std::string&) const override { return over; }
};

class Expressions : public testing::Test {
protected:
    Expressions() {
        names_.runs = {"a", "b"};
        names_.columns = {"loss", "found_inf", "lost_update_share"};
        names_.words = {"early", "late"};
        names_.checks = {{"end", LessonType::word}, {"stop", LessonType::number}};
        names_.blocks = {
            {.id = "tenth", .number = 0.1, .format = "fp16"},
            {.id = "many", .is_sum = true, .number = 0.001, .count = 5000, .format = "fp16"}};
        measured_.columns = {{"a.loss", {4, 3, 2, 1}},
                             {"b.loss", {4, unknown, 2}},
                             {"a.found_inf", {0, 0, 1, 0}},
                             {"b.found_inf", {0, 0, 0}}};
        measured_.results = {{"a.skipped", 1}, {"b.skipped", 0}};
        checks_ = {{"end", LessonValue("early"), true}, {"stop", LessonValue(2.0), true}};
    }
    LessonExpression parsed(const std::string& text) const {
        return LessonExpression::parse(text, names_);
    }
    double number(const std::string& text) const {
        const auto value = parsed(text).value(measured_, checks_);
        EXPECT_TRUE(value) << text;
        return value ? std::get<double>(*value) : unknown;
    }
    std::vector<double> series(const std::string& text) const {
        return std::get<std::vector<double>>(*parsed(text).value(measured_, checks_));
    }
    std::string error_text(const std::string& text) const {
        try {
            parsed(text);
        } catch (const Error& error) {
            return error.message().str();
        }
        return "accepted";
    }

    LessonNames names_;
    Stated measured_;
    EarlierChecks checks_;
};

TEST_F(Expressions, ArithmeticBindsAsUsual) {
    EXPECT_EQ(number("1 + 2 * 3 - 4 / 2"), 5);
    EXPECT_EQ(number("-2 * (1 - 4)"), 6);
    EXPECT_EQ(number("1 < 2 and not 2 < 1 or 0"), 1);
    EXPECT_EQ(number("not 1 == 1"), 0);
    EXPECT_EQ(number("1e-3 * .5"), 5e-4);
    EXPECT_EQ(number("7 - 2 - 1"), 4);
}

TEST_F(Expressions, FunctionsOfAColumn) {
    EXPECT_EQ(number("mean(a.loss)"), 2.5);
    EXPECT_EQ(number("last(a.loss)"), 1);
    EXPECT_EQ(number("min(a.loss) + max(a.loss)"), 5);
    EXPECT_EQ(number("count(a.loss > 1)"), 3);
    EXPECT_EQ(number("first(a.found_inf)"), 3);
    EXPECT_TRUE(std::isnan(number("first(b.found_inf)")));
    EXPECT_EQ(number("count(isnan(b.loss))"), 1);
    EXPECT_EQ(number("isnan(last(b.loss))"), 0);
}

TEST_F(Expressions, WhatWasNotMeasuredIsLeftOutOfMeans) {
    EXPECT_EQ(number("mean(b.loss)"), 3);
    EXPECT_EQ(number("min(b.loss)"), 2);
}

TEST_F(Expressions, TrailingMeansBeginWhenThereAreEnoughSteps) {
    const auto means = series("mean(a.loss, 2)");
    ASSERT_EQ(means.size(), 4u);
    EXPECT_TRUE(std::isnan(means[0]));
    EXPECT_EQ(means[1], 3.5);
    EXPECT_EQ(means[3], 1.5);
    EXPECT_EQ(number("first(mean(a.loss, 2) <= 2.5)"), 3);
}

TEST_F(Expressions, TrailingMeansPassAnInfinity) {
    measured_.columns["a.loss"] = {1, std::numeric_limits<double>::infinity(), 3, 5};
    const auto means = series("mean(a.loss, 2)");
    EXPECT_TRUE(std::isinf(means[1]));
    EXPECT_TRUE(std::isinf(means[2]));
    EXPECT_EQ(means[3], 4);
}

TEST_F(Expressions, SeriesGoStepByStepAndTheShorterDecides) {
    EXPECT_EQ(series("a.loss - 1"), (std::vector<double>{3, 2, 1, 0}));
    EXPECT_EQ(series("a.loss - b.loss").size(), 3u);
}

TEST_F(Expressions, ResultsBlocksXraySkipAndChecks) {
    EXPECT_EQ(number("a.result.skipped - b.result.skipped"), 1);
    EXPECT_NEAR(number("tenth.value"), 0.1, 0x1p-15);
    EXPECT_EQ(number("tenth.gap"), 0x1p-14);
    EXPECT_EQ(number("many.value"), 4) << "0.001 is less than half a gap from 4 on";
    EXPECT_EQ(number("xray(a, fc1:linear).output == fp16"), 1);
    EXPECT_EQ(number("skip(a).cause == bad_input and skip(a).step == 3"), 1);
    EXPECT_EQ(number("end == early and stop < 3"), 1);
    EXPECT_EQ(number("end != late"), 1);
}

TEST_F(Expressions, KnowTheRunsThatTheyRead) {
    EXPECT_THAT(parsed("last(a.loss) < mean(b.loss) + a.result.skipped").runs(),
                testing::ElementsAre("a", "b"));
}

TEST_F(Expressions, AFirstIsFinalWhenItIsMetAndTheRestWhenTheRunsHaveEnded) {
    measured_.over = false;
    EXPECT_TRUE(parsed("first(a.found_inf)").is_final(measured_, checks_));
    EXPECT_FALSE(parsed("first(b.found_inf)").is_final(measured_, checks_));
    EXPECT_FALSE(parsed("last(a.loss)").is_final(measured_, checks_));
    EXPECT_FALSE(parsed("a.result.skipped").value(measured_, checks_));
    EXPECT_TRUE(parsed("tenth.value").is_final(measured_, checks_));
    measured_.over = true;
    EXPECT_TRUE(parsed("last(a.loss)").is_final(measured_, checks_));
}

TEST_F(Expressions, RefuseWhatIsNone) {
    EXPECT_NE(error_text("1 +").find("too early"), std::string::npos);
    EXPECT_NE(error_text("(1").find("“)” is missing"), std::string::npos);
    EXPECT_NE(error_text("a").find("name a column"), std::string::npos);
    EXPECT_NE(error_text("mean(a.loss, 0)").find("whole number"), std::string::npos);
    EXPECT_NE(error_text("early + 1").find("word"), std::string::npos);
    EXPECT_NE(error_text("-early").find("word"), std::string::npos);
    EXPECT_NE(error_text(std::string(200, '(') + "1").find("too deeply"), std::string::npos);
    EXPECT_NE(error_text(std::string(5000, '1')).find("4000"), std::string::npos);
    EXPECT_NE(error_text("skip(a).colour").find("no colour"), std::string::npos);
}

}  // namespace
}  // namespace engine
