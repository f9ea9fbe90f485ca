#pragma once

#include <string_view>

/// ASCII classes of characters, independent of the locale, and the byte order mark of UTF-8.
namespace engine {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace engine
