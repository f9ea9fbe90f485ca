#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/verdict/what_if.h"

namespace engine {

/// One step of the record, with the scales at which it overflows or loses gradients.
struct RecordedStep {
    double scale;       ///< the one used
    double ceiling;     ///< StepRecord::scale_ceiling; NaN: unknown
    double floor;       ///< NaN: unknown
    double lost_share;  ///< of gradients that became zero though they were not; NaN: unknown
    bool skipped;       ///< found_inf
    bool overflowed;    ///< its gradients were not finite, whether it was skipped or not
    bool lost_loss;     ///< and so was its loss, which no scale mends
};

/// Whether the gradients of the step overflow at a scale; nothing where the record cannot know.
std::optional<bool> overflows(const RecordedStep& step, double scale);

/// Reads a record from its first row to its last, a block at a time.
class RecordedSteps {
public:
    explicit RecordedSteps(const ReplayedRecord& of);
    /// The next step, or nothing after the last one that was there when this was made.
    const RecordedStep* next();
    /// The ceiling of the nearest step within the block, from the current one on, whose ceiling is
    /// known; NaN without one.
    double ceiling_ahead() const;

private:
    void read_block();
    void look_ahead();

    const ReplayedRecord& of_;
    std::int64_t size_;
    std::int64_t first_ = 0;  // row of the block's first step
    std::size_t at_ = 0;      // in the block, of the next step
    std::vector<RecordedStep> block_;
    std::vector<double> ceilings_ahead_;  // of the block
};

}  // namespace engine
