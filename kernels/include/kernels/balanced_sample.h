#pragma once

#include <cstdint>

#include "kernels/array.h"
#include "kernels/kernel.h"

namespace kernels {

struct SampleRules {
    std::int64_t images, candidates;
    std::int64_t count;          ///< candidates taken of a picture, at most
    std::int64_t max_positives;  ///< of these with a match >= 0
    std::uint32_t substream;     ///< of the draws
};

/// Takes candidates of each picture at random: of those with matches (images,
/// candidates) >= 0 at most max_positives, of those with -1 what is left of `count`; others never.
/// The taken ones of a kind have the smallest (word, candidate), where word is number `candidate`
/// of PhiloxStream{draw's low and high half, 0, substream}; so they do not depend on threads or on
/// other pictures. draws (images).
///
/// `index` (images * count) gets the taken ones as picture * candidates + candidate, rising, and -1
/// behind them; `positives` (images * min(max_positives, count)) the places in `index` of those
/// that match, and -1 behind; counts (2) how many of either.
using BalancedSample = void(std::int64_t* index, std::int64_t* positives, std::int64_t* counts,
                            const std::int64_t* matches, const std::int64_t* draws,
                            const SampleRules& rules, Stream stream);
HALFTONE_KERNEL(BalancedSample, balanced_sample);

}  // namespace kernels
