#include "engine/base/plain_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/base/message.h"

namespace engine {
namespace {

TEST(PlainText, OfPeopleStaysAsItIs) {
    for (const char* text :
         {"", "run 12", "r\xC3\xA9sum\xC3\xA9 \xE2\x88\x92 1",
          "\xE5\x9B\xBE\xE7\x89\x87 \xF0\x9F\x90\x88", "a\u00a0b", "\"quoted\" \\n"}) {
        EXPECT_EQ(printable(text), text);
        EXPECT_EQ(one_line(text), text);
    }
}

TEST(PlainText, OfAPageEscapesWhatHasAMeaning) {
    EXPECT_EQ(html_text("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
    EXPECT_EQ(html_text("a\x1b[2J"), "a\\u001b[2J");
}

TEST(PlainText, EscapesControlCharacters) {
    EXPECT_EQ(printable("\x1b]0;title\x07"), "\\u001b]0;title\\u0007");
    EXPECT_EQ(printable("\x1b[2J\x1b[31mred"), "\\u001b[2J\\u001b[31mred");
    EXPECT_EQ(printable("a\rb"), "a\\u000db");             // overwrites the line
    EXPECT_EQ(printable("a\bb\x7f"), "a\\u0008b\\u007f");  // deletes
    EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\u0000b");
    EXPECT_EQ(printable("\xC2\x9B"
                        "2J"),
              "\\u009b2J");  // CSI as one character
    EXPECT_EQ(printable("a\xE2\x80\xAE"
                        "b"),
              "a\\u202eb");  // right to left
    EXPECT_EQ(printable("a\xE2\x80\xA8"
                        "b\xE2\x81\xA6"),
              "a\\u2028b\\u2066");
}

TEST(PlainText, ReplacesWhatIsNoUtf8) {
    const std::string replaced = "\xEF\xBF\xBD";
    for (const char* wrong : {"\x9b", "\xff", "\xc3", "\xe2\x82", "\xf0\x9f\x90"})
        EXPECT_EQ(printable(wrong).substr(0, 3), replaced) << wrong;
    EXPECT_EQ(printable("\xC0\xAF"
                        "a"),
              replaced + replaced + "a");                                  // overlong
    EXPECT_EQ(printable("\xED\xA0\x80"), replaced + replaced + replaced);  // a surrogate
    EXPECT_EQ(printable("\xF4\x90\x80\x80").size(), 12U);                  // beyond Unicode
}

TEST(PlainText, KeepsLinesOrMakesThemOne) {
    EXPECT_EQ(printable("a\n\tb"), "a\n\tb");
    EXPECT_EQ(one_line("a\nb\tc\r\nd"), "a b c  d");
    EXPECT_EQ(one_line("title\n2  2026-01-01  done\x1b[A"), "title 2  2026-01-01  done\\u001b[A");
}

TEST(PlainText, JsonStaysJson) {
    const nlohmann::json object = {{"title",
                                    "a\x7f\xC2\x9B"
                                    "b\x1b\n\xE2\x80\xAE"},
                                   {"n", 1}};
    EXPECT_EQ(nlohmann::json::parse(printable(object.dump())), object);
}

TEST(PlainText, FindsACharacterThatIsCutOff) {
    EXPECT_EQ(cut_character("abc"), 0U);
    EXPECT_EQ(cut_character("a\xC3\xA9"), 0U);
    EXPECT_EQ(cut_character("a\xC3"), 1U);
    EXPECT_EQ(cut_character("a\xE2\x82"), 2U);
    EXPECT_EQ(cut_character("a\xF0\x9F\x90"), 3U);
    EXPECT_EQ(cut_character("\x80\x80\x80\x80"), 0U);
    EXPECT_EQ(cut_character(""), 0U);
}

TEST(PlainText, WhatIsCountedIsSingularBehindAOne) {
    const auto text = [](const char* form, const auto&... values) {
        return msg(form, values...).str();
    };
    EXPECT_EQ(text("{}: {} files are left out", "a", 1), "a: 1 file is left out");
    EXPECT_EQ(text("{}: {} files are left out", "a", 2), "a: 2 files are left out");
    EXPECT_EQ(text("{}: {} files are left out", 1, 11), "1: 11 files are left out");
    EXPECT_EQ(text("{} had {} non-finite values before the step.", "fc1", 1),
              "fc1 had 1 non-finite value before the step.");
    EXPECT_EQ(text("The batch has no row {}: it has {} rows.", 1, 1),
              "The batch has no row 1: it has 1 row.");
    EXPECT_EQ(text("beyond the {} classes", 1), "beyond the 1 class");
    EXPECT_EQ(text("{} more are not listed.", 1), "1 more is not listed.");
    EXPECT_EQ(text("{} rows/s, {} times as fast", 1, 1), "1 rows/s, 1 times as fast");
    EXPECT_EQ(text("Run {} has steps", 1), "Run 1 has steps");
    EXPECT_EQ(text("Rank {} runs version {}.", 1, 2), "Rank 1 runs version 2.");
}

TEST(PlainText, AMessageIsOneLine) {
    EXPECT_EQ(msg("{}: not found", "a\nhalftone: all is well\x1b[2J").str(),
              "a halftone: all is well\\u001b[2J: not found");
}

}  // namespace
}  // namespace engine
