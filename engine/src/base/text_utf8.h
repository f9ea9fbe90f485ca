#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// ASCII classes of characters, independent of the locale, and the byte order mark of UTF-8.
namespace engine {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Checks UTF-8 that arrives in pieces. Rejects overlong forms, surrogates and code points above
/// U+10FFFF. Must not be used after a rejection.
class Utf8Checker {
public:
    /// False if the text is not valid up to here.
    bool accept(std::string_view piece);
    bool accept(char c);
    /// False in the middle of a character.
    bool complete() const { return expected_ == 0; }

private:
    bool begin(std::uint8_t byte);

    int expected_ = 0;            // continuation bytes to come
    std::uint8_t lowest_ = 0x80;  // of the next one
    std::uint8_t highest_ = 0xBF;
};

/// Whether a text begins with the byte order mark of UTF-16.
bool begins_as_utf16(std::string_view text);

/// Offset of the first byte that is NUL or not part of a valid UTF-8 character; text.size() if
/// there is none. What Utf8Checker rejects and a character cut short at the end are invalid: the
/// offset is that of their first byte.
std::size_t first_bad_byte(std::string_view text);

/// Bytes of the white space that a non-empty text begins with, by Unicode's property White_Space
/// and the four separators of ASCII, as Python's str.split() has it; 0: none.
std::size_t white_space_at_start(std::string_view text);

/// Makes "\n" of the line ends "\r\n" and "\r", as Python does, and drops a byte order mark at the
/// beginning of a line: editors put one before the first, and joined files have it inside. Within a
/// line it is a character. `at_line_start`: the text begins a line. Works in place; returns the
/// length that remains.
std::size_t normalise_text(std::span<char> text, bool at_line_start = true);

/// Length of the text without a character that its last bytes begin but do not complete.
std::size_t whole_characters(std::string_view text);

/// Removes the first character of valid, non-empty UTF-8 and returns its code point.
char32_t take_character(std::string_view& text);

/// Code points in valid UTF-8.
std::size_t count_characters(std::string_view text);

/// The code point as UTF-8.
std::string to_utf8(char32_t character);

}  // namespace engine
