#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace engine {

/// Four 32-bit random words: word w of the counter belongs to lane w.
using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Philox 4x32 with 10 rounds: a bijection of `counter` under `key`, with no state, so any number
/// of a stream can be made on its own. Source: Salmon, Moraes, Dror, Shaw, "Parallel random
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

/// What random numbers are for. Streams of one seed never overlap. The values are stored with runs
/// and checkpoints (a resumed run goes on with the same numbers): add at the end, never renumber.
enum class StreamId : std::uint32_t {
    init = 0,     ///< initial weights; substream: index of the parameter
    shuffle = 1,  ///< order of samples; substream: epoch
    augment = 2,  ///< crop and flip; substream: epoch
    dropout = 3,  ///< masks; substream: the layer
    spirals_train = 4,
    spirals_test = 5,
    glyphs_train = 6,  ///< substream: index of the sample
    glyphs_test = 7,   ///< substream: index of the sample
    bench = 8,         ///< random data for `bench`
};

/// Random numbers by position: a pure function of (seed, stream, substream, offset), the same on
/// every machine and in any order of asking. A value; copy it freely.
///
/// The stream is 2^66 words of 32 bits. Word `offset` is lane offset % 4 of
/// philox4x32({offset / 4 low, offset / 4 high, substream, stream}, {seed low, seed high}).
class RandomStream {
public:
    constexpr RandomStream(std::int64_t seed, StreamId stream, std::uint32_t substream = 0)
        : key_{static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed)),
               static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed) >> 32)},
          stream_(static_cast<std::uint32_t>(stream)),
          substream_(substream) {}

    /// Words 4 * index to 4 * index + 3: one call instead of four.
    constexpr PhiloxBlock block(std::uint64_t index) const {
        return philox4x32({static_cast<std::uint32_t>(index),
                           static_cast<std::uint32_t>(index >> 32), substream_, stream_},
                          key_);
    }

    constexpr std::uint32_t at(std::uint64_t offset) const { return block(offset / 4)[offset % 4]; }

    /// Uniform in [0, 1): a multiple of 2^-24, from the upper 24 bits of word `offset`.
    constexpr float uniform(std::uint64_t offset) const { return to_uniform(at(offset)); }

    /// Uniform in [0, bound), from word `offset`; a value's probability is off by less than 2^-32.
    constexpr std::uint32_t bounded(std::uint64_t offset, std::uint32_t bound) const {
        return to_bounded(at(offset), bound);
    }

    /// Standard normal, Box-Muller: numbers 2k and 2k + 1 are the cosine and the sine of words 2k
    /// (radius) and 2k + 1 (angle). |value| <= 6.67.
    float normal(std::uint64_t offset) const {
        const PhiloxBlock words = block(offset / 4);
        const std::size_t pair = offset % 4 / 2 * 2;
        const auto values = to_normals(words[pair], words[pair + 1]);
        return values[offset % 2];
    }

    static constexpr float to_uniform(std::uint32_t word) {
        return static_cast<float>(word >> 8) * 0x1p-24F;
    }

    static constexpr std::uint32_t to_bounded(std::uint32_t word, std::uint32_t bound) {
        return static_cast<std::uint32_t>((std::uint64_t{word} * bound) >> 32);
    }

    /// The two normals of a pair of words, computed in double and rounded once, so that the last
    /// bit does not hang on a machine's float functions.
    static std::array<float, 2> to_normals(std::uint32_t radius_word, std::uint32_t angle_word) {
        constexpr double two_pi = 6.283185307179586;
        // (word + 1) / 2^32 lies in (0, 1]: the logarithm is finite.
        const double radius = std::sqrt(-2 * std::log((radius_word + 1.0) * 0x1p-32));
        const double angle = two_pi * (angle_word * 0x1p-32);
        return {static_cast<float>(radius * std::cos(angle)),
                static_cast<float>(radius * std::sin(angle))};
    }

private:
    PhiloxKey key_;
    std::uint32_t stream_;
    std::uint32_t substream_;
};

}  // namespace engine
