#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace engine::test {

/// The checksum of PNG (CRC-32), bit by bit.
inline std::uint32_t png_checksum(const std::uint8_t* data, std::size_t size) {
    std::uint32_t sum = 0xFFFFFFFFU;
    for (std::size_t i = 0; i < size; ++i) {
        sum ^= data[i];
        for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1U ? 0xEDB88320U : 0U);
    }
    return ~sum;
}

/// The file with damaged pixels; with `sound_checksum` its checksums are right, so that only
/// decoding shows it.
inline std::vector<std::uint8_t> with_damaged_pixels(std::vector<std::uint8_t> png,
                                                     bool sound_checksum = true) {
    constexpr std::string_view name = "IDAT";
    const auto at = std::search(png.begin(), png.end(), name.begin(), name.end()) - png.begin();
    if (at == std::ssize(png)) throw std::runtime_error("no pixels");
    const auto first = static_cast<std::size_t>(at);
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | png[first - 4 + i];
    std::fill(png.begin() + at + 6, png.begin() + at + 4 + static_cast<std::ptrdiff_t>(length),
              std::uint8_t{0xFF});
    if (!sound_checksum) return png;
    const std::uint32_t sum = png_checksum(png.data() + first, 4 + length);
    for (std::size_t i = 0; i < 4; ++i)
        png[first + 4 + length + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    return png;
}

}  // namespace engine::test
