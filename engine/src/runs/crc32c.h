#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace engine {

/// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as TensorBoard's records have it.
constexpr std::uint32_t crc32c(std::string_view bytes) {
    constexpr auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit)
                value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
            made[i] = value;
        }
        return made;
    }();
    std::uint32_t crc = ~0U;
    for (const char byte : bytes)
        crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xffU];
    return ~crc;
}
// The check value of the algorithm's catalogue.
static_assert(crc32c("123456789") == 0xe3069283U);

}  // namespace engine
