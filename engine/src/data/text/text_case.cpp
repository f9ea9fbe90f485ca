#include "data/text/text_case.h"

#include <cstdint>

namespace engine {
namespace {

bool within(char32_t character, char32_t first, char32_t last) {
    return character >= first && character <= last;
}

/// Latin Extended-A alternates capitals and small letters, from an even or an odd code point.
char32_t lower_extended_a(char32_t c) {
    if (c == 0x178) return 0xFF;
    if (c == 0x130 || c == 0x138 || c == 0x149 || c == 0x17F) return c;
    const bool odd_capitals = within(c, 0x139, 0x148) || within(c, 0x179, 0x17E);
    const bool capital = (c % 2 == 1) == odd_capitals;
    return capital ? c + 1 : c;
}

char32_t lower_greek(char32_t c) {
    if (within(c, 0x391, 0x3AB) && c != 0x3A2) return c + 0x20;
    switch (c) {
        case 0x386:
            return 0x3AC;
        case 0x388:
        case 0x389:
        case 0x38A:
            return c + 0x25;
        case 0x38C:
            return 0x3CC;
        case 0x38E:
        case 0x38F:
            return c + 0x3F;
        default:
            return c;
    }
}

}  // namespace

char32_t lower_case(char32_t c) {
    if (within(c, 'A', 'Z')) return c + 0x20;
    if (within(c, 0xC0, 0xDE))
        return c == 0xD7 ? c : c + 0x20;  // U+00D7 is the multiplication sign
    if (within(c, 0x100, 0x17F)) return lower_extended_a(c);
    if (within(c, 0x386, 0x3AB)) return lower_greek(c);
    if (within(c, 0x400, 0x40F)) return c + 0x50;
    if (within(c, 0x410, 0x42F)) return c + 0x20;
    return c;
}

void lower_case(std::span<char> text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto lead = static_cast<std::uint8_t>(text[i]);
        if (lead < 0x80) {
            text[i] = static_cast<char>(lower_case(char32_t{lead}));
            continue;
        }
        // All other letters with a lower case here have two bytes.
        if (lead < 0xC0 || lead >= 0xE0) continue;
        const auto second = static_cast<std::uint8_t>(text[i + 1]);
        const char32_t lower = lower_case(char32_t{(lead & 0x1FU) << 6 | (second & 0x3FU)});
        text[i] = static_cast<char>(0xC0U | lower >> 6);
        text[++i] = static_cast<char>(0x80U | (lower & 0x3FU));
    }
}

}  // namespace engine
