#include "data/text/text_reader.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

std::string error_text(std::span<const OptionSpec> specs, const char* name,
                       const OptionValue& value) {
    return check_option(*find_option(specs, name), value).str();
}

TEST(TextOptions, HaveTheirDefaults) {
    const auto words = text_words_option_specs();
    const TypedOptions given({}, words);
    EXPECT_EQ(given.integer("min_count"), 1);
    EXPECT_EQ(given.integer("max_words"), 0);
    EXPECT_FALSE(given.flag("lowercase"));
    EXPECT_EQ(given.number("test_share"), 0.1);
    const auto characters = text_chars_option_specs();
    EXPECT_EQ(characters.size(), 3U);
    EXPECT_EQ(find_option(characters, "max_words"), nullptr);
}

TEST(TextOptions, AreCheckedAgainstTheirRanges) {
    const auto specs = text_words_option_specs();
    EXPECT_EQ(error_text(specs, "min_count", std::int64_t{0}),
              "use a whole number from 1 to 1000000");
    EXPECT_EQ(error_text(specs, "min_count", std::int64_t{1'000'000}), "");
    EXPECT_EQ(error_text(specs, "max_words", std::int64_t{-1}), "use a whole number, 0 or more");
    EXPECT_EQ(error_text(specs, "test_share", 1.0), "use a number from 0 to below 1");
    EXPECT_EQ(error_text(specs, "test_share", 0.0), "");
    EXPECT_EQ(error_text(specs, "lowercase", std::int64_t{1}), "use true or false");
}

TEST(TextOptions, SayWhatTheyDo) {
    for (const auto specs : {text_words_option_specs(), text_chars_option_specs()}) {
        for (const auto& spec : specs) {
            EXPECT_FALSE(spec.label.empty()) << spec.name;
            EXPECT_TRUE(spec.help.ends_with('.')) << spec.name;
        }
    }
}

}  // namespace
}  // namespace engine
