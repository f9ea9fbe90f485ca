#include "base/text_utf8.h"

#include <algorithm>
#include <cstring>

namespace engine {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return static_cast<std::uint8_t>(text[at]);
}

bool is_continuation(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

/// Bytes of a character that begins with this byte; 0 if none does.
std::size_t length_by_lead(std::uint8_t lead) {
    if (lead < 0x80) return 1;
    if (lead < 0xC2) return 0;
    if (lead < 0xE0) return 2;
    if (lead < 0xF0) return 3;
    return lead < 0xF5 ? 4 : 0;
}

/// Whether the next eight bytes are ASCII without NUL.
bool eight_plain(std::string_view text, std::size_t at) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::uint64_t high_bits = 0x8080808080808080;
    if (text.size() - at < 8) return false;
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    // Without high bits, subtracting 1 from each byte sets one only where a byte is 0.
    return ((word | (word - ones)) & high_bits) == 0;
}

}  // namespace

bool Utf8Checker::begin(std::uint8_t byte) {
    if (byte < 0x80) return true;
    expected_ = static_cast<int>(length_by_lead(byte)) - 1;
    // The second byte decides about overlong forms, surrogates and the end of Unicode.
    lowest_ = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80;
    highest_ = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF;
    return expected_ > 0;
}

bool Utf8Checker::accept(char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (expected_ == 0) return begin(byte);
    if (byte < lowest_ || byte > highest_) return false;
    --expected_;
    lowest_ = 0x80;
    highest_ = 0xBF;
    return true;
}

bool Utf8Checker::accept(std::string_view piece) {
    return std::all_of(piece.begin(), piece.end(), [this](char c) { return accept(c); });
}

bool begins_as_utf16(std::string_view text) {
    return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

std::size_t first_bad_byte(std::string_view text) {
    Utf8Checker checker;
    std::size_t character = 0;  // where the one being read begins
    for (std::size_t at = 0; at < text.size();) {
        if (checker.complete()) {
            character = at;
            if (eight_plain(text, at)) {
                at += 8;
                continue;
            }
        }
        if (text[at] == '\0' || !checker.accept(text[at])) return character;
        ++at;
    }
    return checker.complete() ? text.size() : character;
}

std::size_t white_space_at_start(std::string_view text) {
    const std::uint8_t lead = byte_at(text, 0);
    if (lead < 0x80) {
        const bool plain = lead == ' ' || (lead >= '\t' && lead <= '\r');
        return plain || (lead >= 0x1C && lead <= 0x1F) ? 1 : 0;
    }
    if (lead != 0xC2 && (lead < 0xE1 || lead > 0xE3))
        return 0;  // quick: no other lead byte has any
    if (text.size() < length_by_lead(lead)) return 0;
    const std::size_t before = text.size();
    const char32_t character = take_character(text);
    const bool is_space = character == 0x85 || character == 0xA0 || character == 0x1680 ||
                          (character >= 0x2000 && character <= 0x200A) || character == 0x2028 ||
                          character == 0x2029 || character == 0x202F || character == 0x205F ||
                          character == 0x3000;
    return is_space ? before - text.size() : 0;
}

std::size_t normalise_text(std::span<char> text, bool at_line_start) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    const std::string_view all(text.data(), text.size());
    std::size_t kept = 0, read = 0;
    if (at_line_start && all.starts_with(mark)) read = mark.size();
    for (; read < all.size(); ++read) {
        if (all[read] == '\r' && read + 1 < all.size() && all[read + 1] == '\n') continue;
        const bool ends_line = all[read] == '\n' || all[read] == '\r';
        text[kept++] = ends_line ? '\n' : all[read];
        if (ends_line && all.substr(read + 1).starts_with(mark)) read += mark.size();
    }
    return kept;
}

std::size_t whole_characters(std::string_view text) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
        const std::uint8_t byte = byte_at(text, text.size() - back);
        if (is_continuation(byte)) continue;
        return length_by_lead(byte) > back ? text.size() - back : text.size();
    }
    return text.size();
}

char32_t take_character(std::string_view& text) {
    const std::uint8_t lead = byte_at(text, 0);
    const std::size_t length = length_by_lead(lead);
    char32_t character = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        character = character << 6 | (byte_at(text, i) & 0x3FU);
    }
    text.remove_prefix(length);
    return character;
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return !is_continuation(static_cast<std::uint8_t>(c));
    }));
}

std::string to_utf8(char32_t character) {
    if (character < 0x80) return {static_cast<char>(character)};
    const int following = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    const char32_t mark = following == 1 ? 0xC0U : following == 2 ? 0xE0U : 0xF0U;
    std::string out{static_cast<char>(mark | character >> (6 * following))};
    for (int i = following - 1; i >= 0; --i) {
        out.push_back(static_cast<char>(0x80U | ((character >> (6 * i)) & 0x3FU)));
    }
    return out;
}

}  // namespace engine
