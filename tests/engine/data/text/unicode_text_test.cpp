#include "data/text/unicode_text.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

std::string in_form(std::string text, UnicodeForm form) {
    normalise_unicode(text, form);
    return text;
}

TEST(UnicodeText, PutsTextIntoNormalForms) {
    const std::string text = "x\u00E9 \u1E69\uFB01 e\u0301\u0323 \uAC00";
    EXPECT_EQ(in_form(text, UnicodeForm::nfc), "x\u00E9 \u1E69\uFB01 \u1EB9\u0301 \uAC00");
    EXPECT_EQ(in_form(text, UnicodeForm::nfd),
              "xe\u0301 s\u0323\u0307\uFB01 e\u0323\u0301 \u1100\u1161");
    EXPECT_EQ(in_form(text, UnicodeForm::nfkc), "x\u00E9 \u1E69fi \u1EB9\u0301 \uAC00");
    EXPECT_EQ(in_form(text, UnicodeForm::nfkd),
              "xe\u0301 s\u0323\u0307fi e\u0323\u0301 \u1100\u1161");
    EXPECT_EQ(in_form("", UnicodeForm::nfc), "");
    EXPECT_EQ(in_form("e\u0301", UnicodeForm::nfc), "\u00E9");
    EXPECT_EQ(in_form("\u0301e", UnicodeForm::nfc), "\u0301e");
    EXPECT_EQ(in_form(std::string("a\0\u00E9", 4), UnicodeForm::nfd), std::string("a\0e\u0301", 5));
}

TEST(UnicodeText, LowersEachCharacterByItself) {
    std::string out;
    for (const char32_t c : {U'A', U'\u0130', U'\u03A3', U'\u1E9E', U'\u01C5', U'\u10D0', U'7'})
        append_lower_case(out, c);
    EXPECT_EQ(out, "ai\u0307\u03C3\u00DF\u01C6\u10D07");
}

TEST(UnicodeText, KnowsClasses) {
    EXPECT_TRUE(is_letter(U'\u6F22') && is_letter(U'\u00AA') && !is_letter(U'1'));
    EXPECT_TRUE(is_number(U'\u00BD') && is_number(U'\u0663') && !is_number(U'\u4E00'));
    EXPECT_TRUE(is_nonspacing_mark(U'\u0301') && !is_nonspacing_mark(U'\u0903'));
    EXPECT_TRUE(is_mark(U'\u0903') && is_mark(U'\u20DD'));
    EXPECT_TRUE(is_punctuation(U'\u3002') && is_punctuation(U'_') && !is_punctuation(U'$'));
    EXPECT_TRUE(is_control(U'\u200B') && is_control(U'\uE000') && !is_control(U'\u0378'));
    EXPECT_TRUE(is_white_space(U'\u0085') && is_white_space(U'\u3000') &&
                !is_white_space(U'\u200B'));
    EXPECT_TRUE(is_word_character(U'_') && is_word_character(U'\u24B6') &&
                is_word_character(U'\u200D') && !is_word_character(U'\u00BD'));
}

}  // namespace
}  // namespace engine
