#include "base/text_utf8.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "data/text/text_source.h"

namespace engine {
namespace {

using namespace std::string_literals;

bool is_surrogate(char32_t character) { return character >= 0xD800 && character < 0xE000; }

TEST(TextUtf8, ReadsBackEveryCodePoint) {
    for (char32_t character = 1; character < 0x110000; ++character) {
        if (is_surrogate(character)) continue;
        const std::string written = to_utf8(character);
        ASSERT_EQ(first_bad_byte(written), written.size()) << static_cast<int>(character);
        std::string_view left = written;
        ASSERT_TRUE(take_character(left) == character);
        ASSERT_TRUE(left.empty());
        ASSERT_EQ(count_characters(written), 1U);
    }
}

TEST(TextUtf8, FindsTheFirstBadByteWhereverItStands) {
    const std::vector<std::string> bad = {
        "\0"s,               // NUL
        "\x80",              // a lone continuation byte
        "\xC3",              // truncated
        "\xC3(",             // no continuation byte
        "\xC0\xAF",          // overlong, two bytes
        "\xE0\x9F\xBF",      // overlong, three bytes
        "\xF0\x8F\xBF\xBF",  // overlong, four bytes
        "\xED\xA0\x80",      // a surrogate
        "\xF4\x90\x80\x80",  // above U+10FFFF
        "\xF5\x80\x80\x80",
        "\xFF",
    };
    for (const auto& bytes : bad) {
        for (std::size_t before = 0; before < 20; ++before) {
            for (const auto* after : {"", "a", "abcdefghijklmnop"}) {
                const std::string text = std::string(before, 'x') + bytes + after;
                EXPECT_EQ(first_bad_byte(text), before) << testing::PrintToString(text);
            }
        }
    }
    EXPECT_EQ(first_bad_byte(""), 0U);
}

TEST(TextUtf8, LeavesOutACharacterThatIsNotComplete) {
    const std::string text = "aé€𝄞";
    const std::vector<std::size_t> whole = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
    for (std::size_t size = 0; size <= text.size(); ++size)
        EXPECT_EQ(whole_characters(std::string_view(text).substr(0, size)), whole[size]) << size;
    // Continuation bytes without a start are left to first_bad_byte().
    EXPECT_EQ(whole_characters("\x80\x80\x80\x80"), 4U);
    EXPECT_EQ(whole_characters("a\xFF"), 2U);
}

/// The result of Utf8Checker. Checks that it is the same in one piece and byte by byte, and agrees
/// with first_bad_byte().
bool is_valid(const std::string& text) {
    Utf8Checker whole, pieces;
    const bool good = whole.accept(text) && whole.complete();
    bool by_byte = true;
    for (const char c : text) by_byte = by_byte && pieces.accept({&c, 1});
    EXPECT_EQ(by_byte && pieces.complete(), good) << testing::PrintToString(text);
    EXPECT_EQ(first_bad_byte(text) == text.size(), good) << testing::PrintToString(text);
    return good;
}

TEST(TextUtf8, AcceptsUtf8AndNothingElse) {
    EXPECT_TRUE(is_valid("Zürich 日本 \xF0\x9F\x8C\xB2 \xF4\x8F\xBF\xBF"));
    EXPECT_FALSE(is_valid("Z\xFCrich"));         // Latin-1
    EXPECT_FALSE(is_valid("\xC0\xAF"));          // overlong
    EXPECT_FALSE(is_valid("\xE0\x80\xAF"));      // overlong
    EXPECT_FALSE(is_valid("\xED\xA0\x80"));      // surrogate
    EXPECT_FALSE(is_valid("\xF4\x90\x80\x80"));  // above U+10FFFF
    EXPECT_FALSE(is_valid("\xF0\x8F\xBF\xBF"));  // overlong
    EXPECT_FALSE(is_valid("\x80"));              // no lead byte
    EXPECT_FALSE(is_valid("\xE6\x97"));          // truncated
    EXPECT_FALSE(is_valid("\xE6\x97 "));         // truncated by a space
    EXPECT_FALSE(is_valid("\xFF\xFE\x61"));      // UTF-16
}

TEST(TextUtf8, ASequenceIsValidIfSomeCodePointIsWrittenThatWay) {
    std::set<std::string> written;
    for (char32_t character = 1; character < 0x110000; ++character) {
        if (!is_surrogate(character)) written.insert(to_utf8(character));
    }
    // Continuation bytes at the limits of every range that a lead byte allows.
    const std::string edges = "\x01\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xFF";
    for (int lead = 0x80; lead < 0x100; ++lead) {
        std::vector<std::string> texts{std::string(1, static_cast<char>(lead))};
        for (std::size_t length = 1; length < 4; ++length) {
            std::vector<std::string> longer;
            for (const auto& text : texts) {
                ASSERT_EQ(is_valid(text), written.contains(text)) << testing::PrintToString(text);
                // A valid start would need further bytes.
                if (written.contains(text)) continue;
                for (const char edge : edges) longer.push_back(text + edge);
            }
            texts = std::move(longer);
        }
        for (const auto& text : texts)
            ASSERT_EQ(is_valid(text), written.contains(text)) << testing::PrintToString(text);
    }
}

TEST(TextUtf8, OnlyTheSearchForBadBytesRefusesNul) {
    Utf8Checker checker;
    EXPECT_TRUE(checker.accept("a\0b"s));
    EXPECT_TRUE(checker.complete());
    EXPECT_EQ(first_bad_byte("a\0b"s), 1U);
}

std::string lowered(std::string text) {
    lower_case(std::span(text));
    return text;
}

TEST(TextCase, LowersLatinGreekAndCyrillicLetters) {
    EXPECT_EQ(lowered("The QUICK Fox, 42."), "the quick fox, 42.");
    EXPECT_EQ(lowered("ÀÉÖØÞß×÷ÿ"), "àéöøþß×÷ÿ");
    EXPECT_EQ(lowered("ĀĄČĘŁŃŐŒŠŸŹŻŽ"), "āąčęłńőœšÿźżž");
    EXPECT_EQ(lowered("ΑΣΩ ΆΈΉΊΌΎΏ ΪΫ"), "ασω άέήίόύώ ϊϋ");
    EXPECT_EQ(lowered("ЁЂЏ АЯ ая"), "ёђџ ая ая");
}

TEST(TextCase, LeavesOtherCharactersAlone) {
    for (const char* text : {"漢字 ｆｕｌｌ", "𝄞", "ı ĸ ŉ ſ İ", "@[`{", "Ԁ Ẁ"})
        EXPECT_EQ(lowered(text), text);
}

TEST(TextCase, NeverChangesTheLengthInUtf8AndIsStable) {
    for (char32_t character = 1; character < 0x110000; ++character) {
        if (is_surrogate(character)) continue;
        const char32_t lower = lower_case(character);
        ASSERT_EQ(to_utf8(lower).size(), to_utf8(character).size()) << static_cast<int>(character);
        ASSERT_TRUE(lower_case(lower) == lower) << static_cast<int>(character);
        ASSERT_EQ(lowered(to_utf8(character)), to_utf8(lower)) << static_cast<int>(character);
    }
}

}  // namespace
}  // namespace engine
