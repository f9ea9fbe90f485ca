#include "data/text/text_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text_utf8.h"
#include "support/data_fixtures.h"

namespace engine {
namespace {

using test::bytes_of;
using test_support::TempFolder;
using ::testing::HasSubstr;

constexpr std::size_t piece_size = TextSource::piece_bytes;

/// The whole file. Checks that no piece splits a character.
std::string all_text(const std::string& file, bool lowercase = false) {
    TextSource source(file, lowercase);
    std::string all;
    for (auto part = source.next(); !part.empty(); part = source.next()) {
        EXPECT_EQ(first_bad_byte(part), part.size());
        EXPECT_LE(part.size(), piece_size);
        all += part;
    }
    EXPECT_TRUE(source.next().empty());
    return all;
}

TEST(TextSource, ReadsPlainAndPackedFiles) {
    const TempFolder folder;
    const std::string text = "one two\nthree\n";
    EXPECT_EQ(all_text(folder.write("a.txt", text)), text);
    EXPECT_EQ(all_text(folder.write("a.txt.gz", test::gzip(bytes_of(text)))), text);
    EXPECT_EQ(all_text(folder.write("a.txt.xz", test::xz(bytes_of(text)))), text);
}

TEST(TextSource, SkipsAByteOrderMarkAtTheBeginningOfALineOnly) {
    const TempFolder folder;
    EXPECT_EQ(all_text(folder.write("a",
                                    "\xEF\xBB\xBF"
                                    "a \xEF\xBB\xBF"
                                    "b")),
              "a \xEF\xBB\xBF"
              "b");
}

TEST(TextSource, TurnsLineEndsOfWindowsAndOldMacsIntoLineFeeds) {
    const TempFolder folder;
    EXPECT_EQ(all_text(folder.write("a", "a\r\nb\rc\r\r\n\r\n\nd\r")), "a\nb\nc\n\n\n\nd\n");
}

TEST(TextSource, LowersLetters) {
    const TempFolder folder;
    EXPECT_EQ(all_text(folder.write("a", "The ÉCLAIR\r\nИ"), true), "the éclair\nи");
}

TEST(TextSource, JoinsWhatStandsAcrossTheEndOfAPiece) {
    const TempFolder folder;
    for (const std::string across : {"é", "€", "𝄞", "\r\n", "\r\r\n", "\rx", "x\uFEFF"}) {
        for (std::size_t before = piece_size - 5; before < piece_size + 2; ++before) {
            const std::string text = std::string(before, 'a') + across + "b";
            std::string wanted = text;
            if (const auto at = wanted.find("\r\n"); at != std::string::npos) wanted.erase(at, 1);
            std::ranges::replace(wanted, '\r', '\n');
            ASSERT_TRUE(all_text(folder.write("a", text)) == wanted) << before;
        }
    }
}

TEST(TextSource, NamesLineAndByteOfWhatIsInvalid) {
    const TempFolder folder;
    const auto error = [&](const std::string& text) {
        const auto file = folder.write("a", text);
        return test::data_error([&] { all_text(file); });
    };
    EXPECT_THAT(error("\xFF"), HasSubstr("line 1: not valid UTF-8 at byte 1 of the line"));
    EXPECT_THAT(error("ab\r\ncd\r\nef\xFFg\n"),
                HasSubstr("line 3: not valid UTF-8 at byte 3 of the line"));
    const std::string long_line(piece_size * 2 + 10, 'x');
    EXPECT_THAT(
        error("a\r\n" + long_line + "\xC3("),
        HasSubstr("line 2: not valid UTF-8 at byte " + std::to_string(piece_size * 2 + 11)));
    std::string many_lines;
    for (std::size_t i = 0; i < piece_size; ++i) many_lines += "a\r\n";
    EXPECT_THAT(
        error(many_lines + "b\xED\xA0\x80"),
        HasSubstr("line " + std::to_string(piece_size + 1) + ": not valid UTF-8 at byte 2 "));
    EXPECT_THAT(error(many_lines + "b" + '\0'),
                HasSubstr("line " + std::to_string(piece_size + 1) + ": contains a NUL byte"));
}

TEST(TextSource, RefusesAFileOfWhiteSpaceOnceItHasReadItAll) {
    const TempFolder folder;
    const auto file = folder.write("a", std::string(3 * piece_size, ' ') + "\n");
    EXPECT_THAT(test::data_error([&] { all_text(file); }),
                HasSubstr("holds no text, only white space"));
    EXPECT_EQ(all_text(folder.write("a", std::string(piece_size, '\n') + "a")).size(),
              piece_size + 1);
}

TEST(TextSource, StopsSoonAfterItWasAsked) {
    const TempFolder folder;
    const auto file = folder.write("a", std::string(10 * piece_size, 'a'));
    std::stop_source stop;
    TextSource source(file, false, stop.get_token());
    EXPECT_FALSE(source.next().empty());
    stop.request_stop();
    EXPECT_THROW(source.next(), ReadingStopped);
}

}  // namespace
}  // namespace engine
