#include "io/coco/json_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/base/error.h"
#include "support/drawn_numbers.h"
#include "text_source.h"

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Each event as a word.
class Words final : public JsonEvents {
public:
    std::vector<std::string> all;
    std::vector<double> numbers;

    void on_null() override { all.emplace_back("null"); }
    void on_boolean(bool value) override { all.emplace_back(value ? "true" : "false"); }
    void on_number(double value, std::optional<std::int64_t> whole) override {
        numbers.push_back(value);
        all.push_back(whole ? std::to_string(*whole) : "number");
    }
    void on_text(std::string& text) override { all.push_back("'" + text); }
    void on_key(std::string& key) override { all.push_back(key + ":"); }
    void on_object_begin() override { all.emplace_back("{"); }
    void on_object_end() override { all.emplace_back("}"); }
    void on_list_begin() override { all.emplace_back("["); }
    void on_list_end() override { all.emplace_back("]"); }
};

Words scanned(const std::string& text) {
    Words out;
    scan_json("a.json", pieces(text, 1 << 18), out);
    return out;
}
std::string json_problem(const std::string& text) {
    try {
        scanned(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        return error.what();
    }
    return "none";
}

TEST(JsonScanner, GivesValuesInTheirOrder) {
    EXPECT_THAT(
        scanned("\xEF\xBB\xBF {\"a\" : [ 1 , -2.5,[ ] ,{}],\n\"b\":null,\"\":[true,false]}\t").all,
        ElementsAre("{", "a:", "[", "1", "number", "[", "]", "{", "}", "]", "b:", "null", ":", "[",
                    "true", "false", "]", "}"));
    EXPECT_THAT(scanned("7").all, ElementsAre("7"));
    EXPECT_THAT(scanned("\"x\"").all, ElementsAre("'x"));
}

TEST(JsonScanner, TextsAreUtf8WithTheirEscapesUndone) {
    EXPECT_THAT(scanned(R"(["\"\\\/\b\f\n\r\t", "\u00e9\u20AC\uD83D\uDE00", "é猫😀"])").all,
                ElementsAre("[", "'\"\\/\b\f\n\r\t", "'é€😀", "'é猫😀", "]"));
    for (const char* bad : {R"("\x")", R"("\u12g4")", R"("\ud800")", R"("\udc00")",
                            R"("\ud800\u0041")", "\"\n\"", "\"\xC0\x80\"", "\"\xED\xA0\x80\"",
                            "\"\xF5\x80\x80\x80\"", "\"\xE2\x82\"", "\"\xFF\"", "\"open"})
        EXPECT_THAT(json_problem(bad), HasSubstr("is not JSON, or is cut short, at byte")) << bad;
}

TEST(JsonScanner, NumbersAreTheNearestDoubles) {
    support::DrawnNumbers draw(55, 1);
    std::vector<std::string> written{"0",
                                     "-0.0",
                                     "123456789012345678",
                                     "9223372036854775808",
                                     "1e22",
                                     "1e-400",
                                     "4.9e-324",
                                     "0.1e+1",
                                     "1.7976931348623157e308",
                                     "0.000000000000000000000001"};
    for (int i = 0; i < 5000; ++i) {
        std::string text = draw.one_in(3) ? "-" : "";
        text += std::to_string(draw.below(draw.one_in(2) ? 1000 : 2'000'000'000));
        if (draw.one_in(4)) text += std::to_string(draw.below(2'000'000'000));
        if (!draw.one_in(5))
            text += '.' + std::to_string(draw.below(draw.one_in(2) ? 100 : 2'000'000'000));
        if (draw.one_in(6)) text += 'E' + std::to_string(draw.below(60) - 30);
        written.push_back(text);
    }
    std::string list;
    for (const std::string& each : written) list += (list.empty() ? "[" : ", ") + each;
    const std::vector<double> read = scanned(list + "]").numbers;
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i)
        EXPECT_EQ(read[i], std::strtod(written[i].c_str(), nullptr)) << written[i];
    EXPECT_THAT(json_problem("[1e400]"), HasSubstr("the number 1e400 is too large"));
}

TEST(JsonScanner, RefusesWhatIsNoJsonWithTheByte) {
    EXPECT_THAT(json_problem(""), HasSubstr("at byte 1"));
    EXPECT_THAT(json_problem("[1,]"), HasSubstr("at byte 4"));
    EXPECT_THAT(json_problem("[1 2]"), HasSubstr("at byte 4"));
    EXPECT_THAT(json_problem("{\"a\" 1}"), HasSubstr("at byte 6"));
    for (const char* bad : {"[", "{", "{\"a\":1,}", "{1:2}", "]", "[}", "nul", "+1", "01", "1.",
                            ".5", "1e", "-", "NaN", "[1]]", "{} {}", "'a'", "// x\n1"})
        EXPECT_THAT(json_problem(bad), HasSubstr("is not JSON, or is cut short, at byte")) << bad;
}

}  // namespace
}  // namespace engine
