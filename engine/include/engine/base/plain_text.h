#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace engine {

/// Text that someone else may have written, safe for a terminal or a page: a control character, of
/// which escape sequences are made, and a character that reverses the direction of writing become
/// their JSON escapes (ESC: "\u001b"), bytes that are no UTF-8 become U+FFFD. Keeps newlines and
/// tabs. JSON stays the JSON of the same values.
std::string printable(std::string_view text);

/// Cleans a text as above and joins its lines: newlines, carriage returns and tabs become spaces.
std::string one_line(std::string_view text);

/// A printable text for HTML and SVG: what marks an element, a reference or the end of an attribute
/// is escaped.
std::string html_text(std::string_view text);

/// A text as a cell of a CSV file, quoted where CSV asks for it (RFC 4180). A spreadsheet computes
/// a cell that begins with =, +, -, @, a tab or a carriage return as a formula, so such a text gets
/// an apostrophe in front unless `raw`. Numbers are written without this function: their sign
/// stays.
std::string csv_cell(std::string_view text, bool raw = false);

/// The number that the whole text is; nothing for another text, or a number out of T's range.
template <typename T>
std::optional<T> to_number(std::string_view text, std::same_as<int> auto... base) {
    T number{};
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, number, base...);
    return error == std::errc() && stopped == end ? std::optional(number) : std::nullopt;
}

/// The shortest digits that read back as the same number.
template <typename T>
std::string shortest_text(T number) {
    std::array<char, 48> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

/// The texts or numbers of a list, with `between` between them.
template <typename List, typename Part = std::identity>
std::string join(const List& list, std::string_view between = ", ", const Part& part = {}) {
    std::string out;
    bool first = true;
    for (const auto& each : list) {
        if (!std::exchange(first, false)) out += between;
        const auto& text = std::invoke(part, each);
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(text)>>)
            out += std::to_string(text);
        else
            out += text;
    }
    return out;
}

/// An English sentence whose holes "{}" take these values, with the singular behind a value of 1:
/// "{} files are left out" becomes "{} file is left out".
std::string with_singulars(std::string_view text, std::span<const std::string> values);

/// Bytes at the end of `text` that begin a character of UTF-8 and lack its rest: 0 to 3.
std::size_t cut_character(std::string_view text);

}  // namespace engine
