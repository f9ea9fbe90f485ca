#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "engine/base/metric.h"
#include "engine/settings/run_config.h"
#include "train/step/training_state.h"

namespace engine {

/// A run between two steps, as a checkpoint holds it.
struct SavedRun {
    std::string run;  ///< id
    RunConfig config;
    TrainingState training;
    SavedNumbers progress;         ///< RunProgress: counts, data cursor
    SavedNumbers alerts;           ///< RunAlerts
    SavedNumbers best;             ///< BestMetric
    SavedNumbers rules;            ///< EpochRules: plateau, early stopping
    PartFigures validation, test;  ///< of the last evaluation
    bool is_best = false;

    std::int64_t step() const;
    /// Bytes of its tensors.
    std::int64_t bytes() const;
};

/// Writes checkpoint-STEP into the run's folder; returns its bytes. `before_move` is called when
/// all is written, before it takes its place, and may throw. Throws Error(io).
std::int64_t write_saved_run(const std::filesystem::path& run_folder, const SavedRun& saved,
                             const std::function<void()>& before_move = {});
/// Throws Error(data) for a checkpoint that is damaged or incomplete.
SavedRun read_saved_run(const std::filesystem::path& checkpoint);

/// How the settings of the run that goes on differ from those that it was saved with.
StateChange change_of(const RunConfig& saved, const RunConfig& now);

/// The parts of a checkpoint that a run with these settings takes over, one sentence each.
std::vector<Message> restored_parts(const SavedRun& saved, const RunConfig& now);

}  // namespace engine
