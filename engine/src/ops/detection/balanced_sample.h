#pragma once

#include "ops/detection/box_parts.h"

namespace engine {

struct SampleOptions {
    std::int64_t count = 256;      ///< candidates of a picture, at most
    std::int64_t positives = 128;  ///< of these, at most
    std::int64_t substream = 0;    ///< of the draws: another one for each use

    void read(auto& from) { from("count", count)("positives", positives)("substream", substream); }
};

/// Candidates of each picture, taken at random without replacement: matches (N, A) as match_boxes()
/// gives them, draws (N) i64. Positives are those that match, negatives those that are background;
/// negatives fill up what positives leave of `count`. The result is
///   index (N count): rows of the taken candidates among all N A, rising, -1 behind them;
///   positive (N positives): places in `index` of those that match, rising, -1 behind them;
///   counts (2): how many there are of both.
/// A candidate's priority is a word of Philox by the picture's draw and the candidate's number
/// (kernels/balanced_sample.h), so what a picture gets depends on nothing else. All i64, no
/// gradient.
TensorList balanced_sample(const Tensor& matches, const Tensor& draws,
                           const SampleOptions& options = {});
inline constexpr Op balanced_sample_op(
    CastPolicy::none, "balanced_sample(matches, draws; count=256, positives=128, substream=0)",
    "Reads and writes whole numbers, which have no precision to lose.", by_name<balanced_sample>,
    no_gradient);

}  // namespace engine
