#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

#include "data/loader/sampler.h"
#include "engine/runs/run_store.h"
#include "train/run/run_listener.h"

namespace engine {

/// Keeps which samples were in the batches of skipped and non-finite steps: skips/batches.jsonl in
/// the run's folder, {"step": 12, "samples": [7, 31, ...]} a line. Costs nothing for other steps.
class SkippedBatches final : public RunListener {
public:
    /// Steps of `accumulate` batches of the part. `place` must outlive it. Throws as
    /// make_sampler().
    SkippedBatches(const RunStore::NewRun& place, const DataPart& part,
                   const SamplerOptions& options, std::int64_t accumulate, PostEvent post);

    void on_step(const CompletedStep& step) override;
    /// The step that begins with this batch of the epoch. After the first 2,000 steps nothing more
    /// is kept. Throws Error(io).
    void add(std::int64_t step, std::int64_t epoch, std::int64_t batch);

private:
    const RunStore::NewRun& place_;
    std::unique_ptr<Sampler> sampler_;
    std::int64_t accumulate_;
    PostEvent post_;
    std::int64_t kept_ = 0;
};

/// Batch::indices by step; the later ones if a step was computed twice. Damaged lines are
/// left out.
std::map<std::int64_t, std::vector<std::int64_t>> read_skipped_batches(
    const std::filesystem::path& run_folder);

}  // namespace engine
