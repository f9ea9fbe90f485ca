#pragma once

#include "data/loader/sampler.h"
#include "engine/settings/run_config.h"

namespace engine {

/// SamplerOptions::min_last of these settings where the last batch of an epoch has `rows`, and is
/// not the only one: see training_sampler(). Throws as make_task() and make_model() do.
std::int64_t min_last_batch(const RunConfig& config, const Schema& data, std::int64_t rows,
                              int ranks = 1);

/// How a run takes its training batches. A last batch so short that a batch norm would get a single
/// value a channel joins the batch before it: PyTorch's users drop it, or their run ends with an
/// error. Each of several ranks has its part of a batch, and so a batch norm that is not
/// synchronised. Throws as make_task() and make_model() do.
SamplerOptions training_sampler(const RunConfig& config, const DataPart& train, int ranks = 1);

}  // namespace engine
