#pragma once

#include "data/schema.h"
#include "engine/train/batch_finder.h"
#include "tensor/device.h"

namespace engine {

/// A trial, and what of its memory belongs to the weights.
struct TriedBatch {
    BatchTrial trial;
    std::int64_t fixed_bytes = 0;
    std::vector<Message> warnings{};
};

/// Trains a fresh model for a few steps on random data with this batch size, within `limit` bytes
/// by the memory accounting. Out of memory is an outcome; throws every other Error.
TriedBatch try_batch(RunConfig config, const Device& device, const Schema& data,
                     std::int64_t batch_size, std::int64_t limit);

}  // namespace engine
