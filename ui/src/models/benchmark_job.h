#pragma once

#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "engine/instruments/speedup.h"
#include "feed/background_task.h"

namespace ui {

/// Settings to be measured in FP32 and in other precisions.
struct BenchmarkOrder {
    std::vector<engine::RunConfig> settings;
    std::vector<std::string> precisions;
    std::optional<std::int64_t> batchMemory;  ///< as SpeedupOptions::batch_memory

    /// Pairs of blocks per precision.
    static std::int64_t pairs() { return engine::SpeedupOptions{}.pairs; }
};

struct BenchmarkProgress {
    std::size_t setting = 0;  ///< of the order
    engine::SpeedupProgress at;
    struct Measured {
        /// One for each precision, fewer if it was stopped.
        std::vector<engine::Speedup> rows;
        QString machine;
        engine::Message problem;  ///< why the settings cannot be measured; empty: they can
    };
    std::vector<Measured> measured;  ///< by setting

    /// The share of the blocks that are done, in [0, 1].
    double share(const BenchmarkOrder& order) const;
};

using BenchmarkTask = BackgroundTask<BenchmarkProgress, bool>;

/// Measures one setting after the other. Blocks until the end, or until the block, or the trial of
/// a batch, in which it is stopped.
bool measureAll(const BenchmarkOrder& order, BenchmarkTask::Link& link);

}  // namespace ui
