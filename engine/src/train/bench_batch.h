#pragma once

#include "data/batch.h"
#include "data/schema.h"

namespace engine {

/// A full batch of random values of any schema: normal numbers (zeros would flatter the
/// multipliers), uniform classes and words, every row of a ragged field filled. A large batch
/// repeats its first samples, which costs a step the same.
Batch random_batch(const Schema& schema, std::int64_t rows, std::int64_t seed);

}  // namespace engine
