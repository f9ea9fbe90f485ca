#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Classes, cases and normal forms of Unicode, by utf8proc (2.8: Unicode 15). A code point that is
/// newer than its tables is unassigned: no letter, no mark, and without a decomposition.
namespace engine {

bool is_letter(char32_t character);           ///< L
bool is_number(char32_t character);           ///< N
bool is_mark(char32_t character);             ///< M
bool is_nonspacing_mark(char32_t character);  ///< Mn
bool is_punctuation(char32_t character);      ///< P
/// Cc, Cf, Cs and Co; an unassigned code point is none.
bool is_control(char32_t character);
/// The property White_Space.
bool is_white_space(char32_t character);
/// Characters that \w stands for in a regular expression: letters, marks, decimal and letter
/// numbers, circled and squared letters, connectors and joiners.
bool is_word_character(char32_t character);

void append_utf8(std::string& text, char32_t character);
/// Each character in lower case, without regard to its neighbours or to a language.
void append_lower_case(std::string& text, char32_t character);

enum class UnicodeForm { nfc, nfd, nfkc, nfkd };
/// Puts valid UTF-8 into a normal form. Throws std::bad_alloc.
void normalise_unicode(std::string& text, UnicodeForm form);

}  // namespace engine
