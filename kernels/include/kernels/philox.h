#pragma once

#include <array>
#include <cstdint>

namespace kernels {

/// Four 32-bit random words: word w of the counter belongs to lane w.
using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Philox 4x32 with 10 rounds: a bijection of `counter` under `key`, without state, so any number
/// of a stream can be computed by itself. Source: Salmon, Moraes, Dror, Shaw, "Parallel random
/// numbers: as easy as 1, 2, 3", SC 2011.
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
    constexpr std::uint64_t multiplier_0 = 0xD2511F53;
    constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product_0 = multiplier_0 * counter[0];
        const std::uint64_t product_1 = multiplier_1 * counter[2];
        counter = {static_cast<std::uint32_t>(product_1 >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(product_1),
                   static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(product_0)};
        key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
    }
    return counter;
}

/// Random numbers by position, on the host and in kernels: a pure function of (key, stream,
/// substream, offset).
///
/// The stream is 2^66 words of 32 bits. Word `offset` is lane offset % 4 of
/// philox4x32({offset / 4 low, offset / 4 high, substream, stream}, key).
struct PhiloxStream {
    PhiloxKey key;
    std::uint32_t stream;
    std::uint32_t substream;

    /// Words 4 * index to 4 * index + 3: one call instead of four.
    constexpr PhiloxBlock block(std::uint64_t index) const {
        return philox4x32({static_cast<std::uint32_t>(index),
                           static_cast<std::uint32_t>(index >> 32), substream, stream},
                          key);
    }

    constexpr std::uint32_t at(std::uint64_t offset) const { return block(offset / 4)[offset % 4]; }

    /// Uniform in [0, 1): a multiple of 2^-24, from the upper 24 bits of word `offset`.
    constexpr float uniform(std::uint64_t offset) const { return to_uniform(at(offset)); }

    /// Uniform in [0, bound), from word `offset`; a value's probability is off by less than 2^-32.
    constexpr std::uint32_t bounded(std::uint64_t offset, std::uint32_t bound) const {
        return to_bounded(at(offset), bound);
    }

    static constexpr float to_uniform(std::uint32_t word) {
        return static_cast<float>(word >> 8) * 0x1p-24F;
    }

    static constexpr std::uint32_t to_bounded(std::uint32_t word, std::uint32_t bound) {
        return static_cast<std::uint32_t>((std::uint64_t{word} * bound) >> 32);
    }
};

}  // namespace kernels
