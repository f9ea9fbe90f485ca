#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/settings/run_config.h"
#include "io/file/mapped_file.h"
#include "train/run/run_home.h"
#include "train/run/run_listener.h"

namespace engine {

/// Writes the run for TensorBoard while it trains: an event file in a folder of the run's own below
/// `log.tensorboard`, which TensorBoard finds new scalars in within a second. At most twenty steps
/// a second, every step that was skipped or whose loss is not finite, and the last step before each
/// evaluation. A run that goes on adds a file. An error is one warning, and the run goes on.
class LiveBoard final : public RunListener {
public:
    /// `home` must outlive it. `metrics`: of the task, and of a step.
    LiveBoard(const RunConfig& config, const RunHome& home, std::vector<Metric> metrics,
              std::vector<Metric> step_metrics, PostEvent post);

    void on_step(const CompletedStep& step) override;
    RunRequest on_evaluation(const Evaluated& evaluated) override;
    void on_unevaluated_epoch(const Evaluated& ended) override { write_epoch(ended); }
    bool poll() override;
    void complete(RunDone& done) override;

private:
    using Clock = std::chrono::steady_clock;

    template <typename F>
    void unless_failed(std::int64_t step, const F& write);
    void open(std::int64_t first_step);
    void write_epoch(const Evaluated& evaluated);
    void write_row(const StepRecord& row);
    void write_held();
    void flush();

    const RunConfig& config_;
    const RunHome& home_;
    std::vector<Metric> metrics_, step_metrics_;
    PostEvent post_;
    std::filesystem::path path_;
    File file_;
    std::string text_;                // not in the file yet
    std::optional<StepRecord> held_;  // the last step, left out so far
    double time_ = 0;                 // of the last step
    bool failed_ = false;
    Clock::time_point row_written_{}, flushed_{};
};

}  // namespace engine
