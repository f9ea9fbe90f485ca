#include "base/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "temp_folder.h"

namespace engine {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The reason for which the text is refused; empty if it is not.
std::string refused(std::string_view text, const JsonBounds& bounds = {}) {
    JsonFault fault;
    const bool read = !read_json(text, bounds, &fault).is_discarded();
    EXPECT_EQ(read, fault.kind == JsonFault::Kind::none) << text.substr(0, 60);
    return fault.str();
}

std::string nested(std::size_t depth, const std::string& open, const std::string& close,
                   const std::string& inner = {}) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += open;
    text += inner;
    for (std::size_t i = 0; i < depth; ++i) text += close;
    return text;
}

TEST(JsonReader, ReadsWhatTheLibraryReads) {
    for (const char* text :
         {"null", "true", "-3", "18446744073709551615", "0.1", "1e300", "\"a\\u00e9\\n\"", "[]",
          "{}", "[1,[2,{\"a\":[]}],\"b\"]", "{\"a\":{\"b\":[1,2]},\"c\":null,\"\":0}",
          "\xEF\xBB\xBF{\"a\":1}", " [ 1 , 2 ] \n"}) {
        EXPECT_EQ(read_json(text), json::parse(text)) << text;
    }
}

TEST(JsonReader, RefusesWhatIsNoJsonAndSaysWhere) {
    for (const char* text : {"", " ", "{", "[1,]", "{\"a\"}", "{} {}", "\xff", "\"\xc3\"", "nan",
                             "'a'", "[1 2]", "{a:1}"}) {
        EXPECT_THAT(refused(text), HasSubstr("line 1, column ")) << text;
        EXPECT_THAT(refused(text), Not(HasSubstr("json.exception"))) << text;
    }
    EXPECT_THAT(refused("{\n \"a\": 1,\n  b: 2}"), testing::StartsWith("line 3, column 3: "));
}

TEST(JsonReader, RefusesBracketsBeyondTheBound) {
    const JsonBounds bounds{.depth = 4};
    EXPECT_EQ(refused(nested(4, "[", "]"), bounds), "");
    for (const std::string& text :
         {nested(5, "[", "]"), nested(5, "{\"a\":", "}", "1"), nested(100'000, "[", "]"),
          nested(100'000, "[", ""), nested(100'000, "{\"a\":", "}", "1"),
          nested(100'000, "[{\"a\":", "}]", "1"), "{\"a\":" + nested(5, "[", "]") + "}"})
        EXPECT_EQ(refused(text, bounds), "its brackets are nested too deeply");
}

TEST(JsonReader, RefusesALongText) {
    const JsonBounds bounds{.bytes = 100};
    EXPECT_EQ(refused('"' + std::string(98, 'a') + '"', bounds), "");
    EXPECT_EQ(refused('"' + std::string(99, 'a') + '"', bounds), "it is too large");
}

TEST(JsonReader, RefusesManyValues) {
    const JsonBounds bounds{.values = 5};
    EXPECT_EQ(refused("[1,[2],{\"a\":3}]", {.values = 6}), "");
    for (const char* text :
         {"[1,[2],{\"a\":3}]", "[[],[],[],[],[]]", "[1,2,3,4,5]", "{\"a\":[1,2,3,4]}"})
        EXPECT_EQ(refused(text, bounds), "it is too large") << text;
}

TEST(JsonReader, RefusesAKeyThatOccursTwiceInAnObjectAndNamesIt) {
    EXPECT_EQ(refused("{\"a\":1,\"a\":1}"), "a is given twice");
    EXPECT_EQ(refused("{\"a\":1,\"\\u0061\":1}"), "a is given twice");
    EXPECT_EQ(refused("{\"a\":{},\"b\":{\"c\":[1,{\"d\":0,\"d\":[]}]}}"), "b.c.d is given twice");
    EXPECT_EQ(refused("{\"\":1,\"\":2}"), " is given twice");
    EXPECT_EQ(refused("[{\"a\":1},{\"a\":1},{\"b\":{\"a\":1},\"a\":2}]"), "");
    JsonFault fault;
    read_json("{\"a\":1,\"a\":2,\"a\":3,\"b\":{\"c\":1,\"c\":2}}", {}, &fault);
    EXPECT_THAT(fault.repeated, ElementsAre("a", "b.c"));
}

TEST(JsonReader, RefusesANumberThatNoTypeHolds) {
    EXPECT_EQ(refused("[1e400]"), "the number 1e400 does not fit into 64 bits");
    EXPECT_LT(refused("[" + std::string(5000, '9') + "]").size(), 100U);
}

TEST(JsonReader, ReadsOnlyRegularFilesOfTheirSize) {
    const test_support::TempFolder folder;
    EXPECT_EQ(read_json_file(folder.write("a.json", "{\"a\":1}")), json({{"a", 1}}));
    EXPECT_TRUE(read_json_file(folder.path() / "a.json", {.bytes = 6}).is_discarded());
    EXPECT_TRUE(read_json_file(folder.path() / "absent").is_discarded());
    EXPECT_TRUE(read_json_file(folder.path()).is_discarded());
    EXPECT_TRUE(read_json_file(folder.write("empty.json", std::string())).is_discarded());
    // A pipe without a writer would never end.
    ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0600), 0);
    EXPECT_TRUE(read_json_file(folder.path() / "pipe").is_discarded());
}

}  // namespace
}  // namespace engine
