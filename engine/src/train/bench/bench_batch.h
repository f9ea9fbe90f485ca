#pragma once

#include "data/loader/batch.h"
#include "data/schema.h"

namespace engine {

/// A full batch of random values of any schema: normal numbers (zeros would make the hardware look
/// faster), uniform classes and words, every row of a ragged field filled. A large batch repeats
/// its first samples, which does not change the time of a step.
Batch random_batch(const Schema& schema, std::int64_t rows, std::int64_t seed);

}  // namespace engine
