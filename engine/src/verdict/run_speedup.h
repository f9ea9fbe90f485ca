#pragma once

#include <cstdint>
#include <limits>

#include "engine/base/message.h"
#include "engine/verdict/verdict.h"

namespace engine {

/// How many times as fast as the baseline a run trains, with a 95 % confidence interval.
///
/// Runs of a comparison take turns step by step, so the times of one step come from neighbouring
/// moments of the same machine, and most of what slows it down cancels in their ratio. The steps
/// that both speeds were measured over are cut into up to 16 blocks of consecutive steps, of an
/// even number each: the run that goes first reads a step's batch into the processor's caches for
/// the other, and two runs take that turn by turn (ComputeThread). A block's ratio is that of the
/// means of the middle half of its step times, and `ratio` is the median over the blocks.
///
/// The interval is that of the sign test. Each block falls below the true median with probability
/// 1/2, however the noise is distributed, so the number that do is binomial. With r the largest
/// rank for which P(Binomial(blocks, 1/2) < r) <= 2.5 %, the interval reaches from the r-th lowest
/// to the r-th highest ratio: 4th of 16. Below 6 blocks there is no such rank.
///
/// Load of other programs may hit one run in all blocks, such as the one that computes on more
/// threads. It cannot slow down the fastest tenth of the steps of both runs alike, so no difference
/// is claimed beyond theirs (`quiet_ratio`).
///
/// It assumes independent blocks. It does not see what sets two starts of one program apart for
/// good, such as where their memory happens to lie.
struct SpeedGap {
    double ratio = std::numeric_limits<double>::quiet_NaN();  ///< above 1: faster; NaN: unknown
    double low = 0;  ///< of the interval; 0 and infinity: too few steps for one
    double high = std::numeric_limits<double>::infinity();
    std::int64_t blocks = 0;
    double quiet_ratio = 1;  ///< of the fastest tenth of the steps

    bool has_interval() const { return low > 0; }
    /// The interval leaves out equal speed, and the fastest steps differ in the same direction.
    bool clear() const { return (low > 1 && quiet_ratio > 1) || (high < 1 && quiet_ratio < 1); }
    /// Both ends and the fastest steps lie within a tenth of the ratio: it can be named as it is.
    bool narrow() const {
        return low >= 0.9 * ratio && high <= 1.1 * ratio && quiet_ratio >= 0.9 * ratio &&
               quiet_ratio <= 1.1 * ratio;
    }
    /// The claim that a clear gap allows: the ratio, or the bound nearest to equal speed.
    double claim() const;
};

/// Whether both runs took turns step by step, so that their speeds can be compared.
bool ran_in_turns(const RunFigures& baseline, const RunFigures& other);

/// Over the steps that both runs' Speed covers and in which they took turns; reads no more than
/// these.
SpeedGap speed_gap(const RunFigures& baseline, const RunFigures& other);

/// Whether a precision pays, judged by the steps of two finished or running runs.
struct RunSpeedup {
    Message sentence;  ///< empty: not known, or the runs are not FP32 and a 16-bit precision
    /// Whether the sentence has the reason. Otherwise the runs have recorded too little for it, and
    /// measure_speedup() (engine/instruments/speedup.h) finds it.
    bool explained = true;
    Message evidence;  ///< the times of the steps' parts; empty if not recorded
};

/// Compares the times of the parts of a step (data, forward, backward, optimizer) over the steps
/// that both speeds cover. A precision pays if equal speed is below the 95 % interval of the ratio
/// and the ratio is 1.05 or more. Reads a bounded number of rows.
RunSpeedup run_speedup(const RunFigures& baseline, const RunFigures& other);

}  // namespace engine
