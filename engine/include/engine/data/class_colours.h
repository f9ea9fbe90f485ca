#pragma once

#include <array>
#include <cstdint>

namespace engine {

/// Red, green and blue of the classes 1 to 10 in pictures; the next ones take the same in turn.
inline constexpr std::array<std::array<std::uint8_t, 3>, 10> class_colours = {{{0xb8, 0x32, 0x7c},
                                                                               {0x08, 0x78, 0x8b},
                                                                               {0x66, 0x7a, 0x00},
                                                                               {0x6f, 0x45, 0xc4},
                                                                               {0x86, 0x55, 0x2a},
                                                                               {0xc2, 0x3b, 0x4e},
                                                                               {0x3f, 0x4f, 0xb5},
                                                                               {0x2f, 0x7d, 0x32},
                                                                               {0x8d, 0x6b, 0x00},
                                                                               {0x56, 0x61, 0x6e}}};

/// Colour of a label from 1.
constexpr std::array<std::uint8_t, 3> class_colour(std::int32_t label) {
    const auto number = static_cast<std::size_t>(label > 1 ? label - 1 : 0);
    return class_colours[number % class_colours.size()];
}

}  // namespace engine
