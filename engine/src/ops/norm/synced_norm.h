#pragma once

#include "kernels/batch_norm.h"
#include "parallel/communicator.h"
#include "tensor/tensor.h"

namespace engine {

// Batch norm with statistics over the rows of all ranks (optimizers.md#synchronised-batch-norm,
// 4.5).

/// While it lives, batch norms of this thread take their statistics over these ranks; null: of
/// their own rows.
using SyncedNorms = ContextScope<&ComputeContext::norm_ranks>;

/// While it lives, the rows that this thread computes do not count in the statistics: a rank
/// without rows of a batch computes one only to run the same code as the others.
using UncountedRows = ContextScope<&ComputeContext::uncounted_rows>;

/// Null if batch norms of this thread take the statistics of their own rows.
inline Communicator* norm_ranks() noexcept { return ComputeContext::of_thread().norm_ranks; }

struct SyncedStatistics {
    Tensor mean, var, unbiased;  ///< by channel, f32 (f64 for f64); var is biased
    std::int64_t rows = 0;       ///< of all ranks
    bool counted = true;         ///< whether they include this rank's
};
/// The statistics of x (rows, channels), channels innermost. All ranks call it.
SyncedStatistics synced_statistics(Communicator& ranks, const Tensor& x,
                                   const kernels::BatchNormShape& shape);

/// sum g and sum g (x - mean), over this rank's rows and over those of all ranks.
struct SyncedSums {
    Tensor own, own_centred, all, all_centred;
};
SyncedSums synced_sums(Communicator& ranks, const Tensor& g, const Tensor& x, const Tensor& mean,
                       const kernels::BatchNormShape& shape, bool counted);

}  // namespace engine
