#include "kernels/scores.h"

#include <cassert>
#include <cmath>
#include <limits>

#include "cpu/scalar_convert.h"

namespace kernels::cpu {

void count_scores(std::int64_t* histogram, ConstArray scores, ConstArray labels, Stream) {
    assert(scores.size == labels.size && labels.dtype == DType::i64);
    const auto* label = static_cast<const std::int64_t*>(labels.data);
    with_type(scores.dtype, [&]<typename T>(T) {
        const auto* score = static_cast<const T*>(scores.data);
        for (std::int64_t i = 0; i < scores.size; ++i) {
            const auto value = static_cast<double>(widen(score[i]));
            const std::int64_t at = std::isnan(value) ? 2 * ScoreBins::count
                                                      : (label[i] != 0 ? ScoreBins::count : 0) +
                                                            ScoreBins::bin_of(value);
            ++histogram[at];
        }
    });
}

void add_score_pairs(double* sums, const std::int64_t* histogram, Stream) {
    double zeros = 0, ones = 0, ordered = 0, right = 0;
    for (std::int64_t bin = 0; bin < ScoreBins::count; ++bin) {
        const auto zero = static_cast<double>(histogram[bin]);
        const auto one = static_cast<double>(histogram[ScoreBins::count + bin]);
        ordered += one * (zeros + 0.5 * zero);
        right += bin < ScoreBins::count / 2 ? zero : one;
        zeros += zero;
        ones += one;
    }
    if (histogram[2 * ScoreBins::count] != 0) ordered = std::numeric_limits<double>::quiet_NaN();
    sums[0] += ordered;
    sums[1] += zeros * ones;
    sums[2] += right;
}

}  // namespace kernels::cpu
