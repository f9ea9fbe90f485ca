#pragma once

#include "core/tensor.h"
#include "kernels/batch_norm.h"
#include "parallel/communicator.h"

namespace engine {

// Batch norm whose statistics are those of all ranks' rows together (4.5).

/// Batch norms of this thread take their statistics over these ranks while it lives. Not for
/// several runs at once on one thread but by turns: each turn opens its own.
class SyncedNorms {
public:
    /// Null leaves things as they are.
    explicit SyncedNorms(Communicator* ranks) noexcept;
    ~SyncedNorms();
    SyncedNorms(const SyncedNorms&) = delete;
    SyncedNorms& operator=(const SyncedNorms&) = delete;

private:
    Communicator* before_;
};

/// The rows that this thread computes count for nothing in the statistics while it lives: a rank
/// that has none of a batch computes some to go the same way as the others.
class UncountedRows {
public:
    explicit UncountedRows(bool on) noexcept;
    ~UncountedRows();
    UncountedRows(const UncountedRows&) = delete;
    UncountedRows& operator=(const UncountedRows&) = delete;

private:
    bool before_;
};

/// Null: batch norms of this thread take their own rows' statistics.
Communicator* norm_ranks() noexcept;

struct SyncedStatistics {
    Tensor mean, var, unbiased;  ///< by channel, f32 (f64 for f64); var is biased
    std::int64_t rows = 0;       ///< of all ranks
    bool counted = true;         ///< this rank's rows are among them
};
/// Of x (rows, channels), channels innermost. All ranks call it.
SyncedStatistics synced_statistics(Communicator& ranks, const Tensor& x,
                                   const kernels::BatchNormShape& shape);

/// sum g and sum g (x - mean) of this rank's rows, and over all ranks.
struct SyncedSums {
    Tensor own, own_centred, all, all_centred;
};
SyncedSums synced_sums(Communicator& ranks, const Tensor& g, const Tensor& x, const Tensor& mean,
                       const kernels::BatchNormShape& shape, bool counted);

}  // namespace engine
