#pragma once

#include "kernels/batch_norm.h"
#include "parallel/communicator.h"
#include "tensor/tensor.h"

namespace engine {

// Batch norm with statistics over the rows of all ranks (optimizers.md#synchronised-batch-norm,
// 4.5).

/// While it lives, batch norms of this thread take their statistics over these ranks. Runs that
/// take turns on a thread open one in each turn.
class SyncedNorms {
public:
    /// Null changes nothing.
    explicit SyncedNorms(Communicator* ranks) noexcept;
    ~SyncedNorms();
    SyncedNorms(const SyncedNorms&) = delete;
    SyncedNorms& operator=(const SyncedNorms&) = delete;

private:
    Communicator* before_;
};

/// While it lives, the rows that this thread computes do not count in the statistics: a rank
/// without rows of a batch computes one only to run the same code as the others.
class UncountedRows {
public:
    explicit UncountedRows(bool on) noexcept;
    ~UncountedRows();
    UncountedRows(const UncountedRows&) = delete;
    UncountedRows& operator=(const UncountedRows&) = delete;

private:
    bool before_;
};

/// Null if batch norms of this thread take the statistics of their own rows.
Communicator* norm_ranks() noexcept;

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
