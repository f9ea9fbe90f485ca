#include "data/text_utf8.h"

#include <algorithm>
#include <cstdint>
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

/// The second byte decides about overlong forms, surrogates and the end of Unicode.
bool second_byte_allowed(std::uint8_t lead, std::uint8_t second) {
    switch (lead) {
        case 0xE0:
            return second >= 0xA0;
        case 0xED:
            return second <= 0x9F;
        case 0xF0:
            return second >= 0x90;
        case 0xF4:
            return second <= 0x8F;
        default:
            return true;
    }
}

/// Bytes of the character at `at`; 0 if it is invalid.
std::size_t valid_length(std::string_view text, std::size_t at) {
    const std::size_t length = length_by_lead(byte_at(text, at));
    if (length == 0 || length > text.size() - at) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(byte_at(text, at + i))) return 0;
    }
    if (length > 1 && !second_byte_allowed(byte_at(text, at), byte_at(text, at + 1))) return 0;
    return length;
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

std::size_t first_bad_byte(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        if (eight_plain(text, at)) {
            at += 8;
            continue;
        }
        const std::size_t length = text[at] == '\0' ? 0 : valid_length(text, at);
        if (length == 0) return at;
        at += length;
    }
    return text.size();
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
