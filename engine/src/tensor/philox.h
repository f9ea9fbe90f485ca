#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/philox.h"

namespace engine {

using kernels::philox4x32;
using kernels::PhiloxBlock;
using kernels::PhiloxKey;

/// Purposes of random numbers. Streams of one seed never overlap. The values are stored with runs
/// and checkpoints (a resumed run goes on with the same numbers): add at the end, never renumber.
enum class StreamId : std::uint32_t {
    init = 0,          ///< initial weights; substream: index of the parameter
    shuffle = 1,       ///< order of samples; substream: epoch
    augment = 2,       ///< crop and flip; substream: epoch
    dropout = 3,       ///< masks; substream: the layer
    points_train = 4,  ///< of generated points in the plane
    points_test = 5,
    glyphs_train = 6,  ///< substream: index of the sample
    glyphs_test = 7,   ///< substream: index of the sample
    bench = 8,         ///< random data for `bench`
    split = 9,         ///< which rows of a table are test and validation rows
    generated_text = 10,
    task = 11,            ///< random fields that a task adds; substream: epoch
    picture_crop = 16,    ///< of pictures that are decoded for each sample; substream: epoch
    color_jitter = 17,    ///< substream: epoch
    cutout = 18,          ///< substream: epoch
    clicks_train = 20,    ///< substream: index of the sample
    clicks_test = 21,     ///< substream: index of the sample
    clicks_teacher = 22,  ///< what decides generated clicks; substream: the table
    shapes_train = 24,    ///< scenes of shapes; substream: index of the sample
    shapes_test = 25,     ///< substream: index of the sample
    rounding = 32,        ///< of gradients to 4 bits; substream: step
};

/// Random numbers by position: a pure function of (seed, stream, substream, offset), the same on
/// every machine and in any order of calls. A value type. The key is the seed, low word first.
class RandomStream : public kernels::PhiloxStream {
public:
    constexpr RandomStream(std::int64_t seed, StreamId id, std::uint32_t part = 0)
        : PhiloxStream{{static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed)),
                        static_cast<std::uint32_t>(static_cast<std::uint64_t>(seed) >> 32)},
                       static_cast<std::uint32_t>(id),
                       part} {}

    /// Standard normal, Box-Muller: numbers 2k and 2k + 1 are the cosine and the sine of words 2k
    /// (radius) and 2k + 1 (angle). |value| <= 6.67.
    float normal(std::uint64_t offset) const {
        const PhiloxBlock words = block(offset / 4);
        const std::size_t pair = offset % 4 / 2 * 2;
        return static_cast<float>(to_normals(words[pair], words[pair + 1])[offset % 2]);
    }

    /// The two normals of a pair of words, in double. The caller rounds once, so the last bit does
    /// not depend on a machine's float functions.
    static std::array<double, 2> to_normals(std::uint32_t radius_word, std::uint32_t angle_word) {
        constexpr double two_pi = 6.283185307179586;
        // (word + 1) / 2^32 lies in (0, 1]: the logarithm is finite.
        const double radius = std::sqrt(-2 * std::log((radius_word + 1.0) * 0x1p-32));
        const double angle = two_pi * (angle_word * 0x1p-32);
        return {radius * std::cos(angle), radius * std::sin(angle)};
    }
};

}  // namespace engine
