#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"

namespace engine {

/// A few real steps on random data of one batch size.
struct BatchTrial {
    std::int64_t batch_size = 0;
    std::int64_t predicted_bytes = 0;  ///< peak that was expected; 0: nothing was known yet
    std::int64_t peak_bytes = 0;       ///< by the memory accounting; of one that does not fit: up
                                       ///< to where it ended
    double step_ms = 0;                ///< of the last step; 0: it did not get there
    bool fits = false;
};

struct FindBatchOptions {
    std::int64_t memory = 0;  ///< bytes of device memory that the run may take; 0: all that is free
    /// A batch may be larger than the training part: trials run on random data, and only the memory
    /// is the limit.
    bool beyond_data = false;
    /// Asked before each trial; false ends the search. May be null.
    std::function<bool(std::int64_t batch_size)> before;
    std::function<void(const BatchTrial&)> after;  ///< may be null
};

/// Larger batches are not tried: one of this size is a lower bound.
inline constexpr std::int64_t max_batch_tried = std::int64_t{1} << 20;

struct FoundBatch {
    std::int64_t batch_size = 0;  ///< largest that fitted; 0: the search was ended before one did
    std::int64_t peak_bytes = 0;  ///< of its steps
    std::int64_t too_large = 0;   ///< smallest that was tried and did not fit; 0: none
    /// The search ended at max_batch_tried: a larger one may fit, too.
    bool at_search_limit() const { return too_large == 0 && batch_size == max_batch_tried; }
    std::int64_t predicted = 0;   ///< largest batch by the memory split of the first trial alone
    std::int64_t memory = 0;      ///< the limit, bytes
    std::int64_t samples = 0;     ///< in the training part, which no batch exceeds; 0: unknown
    /// Part of the peak that does not grow with the batch: weights, masters, gradients, optimizer
    /// state, 16-bit copies.
    std::int64_t fixed_bytes = 0;
    std::vector<BatchTrial> trials;
    std::vector<Message> warnings;
};

/// Finds the largest batch size whose training steps stay within the limit. The memory split of a
/// small batch predicts it: what belongs to weights stays, the rest grows with the batch. Then real
/// steps of a fresh model verify it, one trial after another, until the next larger size tried is
/// at most a 16th above. A trial ends before it exceeds the limit and leaves nothing behind, and
/// does not change a run that trains meanwhile. A micro-batch of `accumulate` counts as a batch.
///
/// The settings must have passed validate(). Throws Error(settings) if an order file gives the
/// batches, Error(memory) if not even one sample fits, and what training steps throw.
FoundBatch find_largest_batch(const RunConfig& config, const FindBatchOptions& options = {});

/// Bytes of "2GB", "500 MB", "1.5GiB" or "1000000"; 0 if it is none of these.
std::int64_t parse_bytes(std::string_view text);

}  // namespace engine
