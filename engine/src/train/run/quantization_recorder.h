#pragma once

#include <map>
#include <string>
#include <utility>

#include "engine/runs/run_store.h"
#include "record/quantization_file.h"
#include "train/run/run_listener.h"
#include "train/run/trainer.h"

namespace engine {

/// Finds operands whose casts go wrong, from sample to sample. One alarm in 100 steps for each
/// operand; what was seen before a resume does not count.
class ScaleWatchdog {
public:
    explicit ScaleWatchdog(const Recipe& recipe) : recipe_(recipe) {}

    /// The event has no run yet.
    std::optional<ScaleAlarm> see(const QuantizationSlot& slot, const QuantizationRow& row);

private:
    std::optional<ScaleAlarm> judge(const QuantizationSlot& slot, const QuantizationRow& row);

    double most_saturated(const QuantizationSlot& slot) const;
    double most_zeroed(const QuantizationSlot& slot) const;
    bool is_delayed() const { return recipe_.rule == ScaleBasis::delayed; }

    const Recipe recipe_;
    std::map<std::string, std::int64_t> reported_;  // steps, by operand
    std::map<std::string, std::int64_t> off_since_;
};

/// Keeps what the casts of a run's recipe did in its folder, and reports which products the recipe
/// covers and where scales go wrong.
class QuantizationRecorder final : public RunListener {
public:
    /// All must outlive it; the trainer's run has a recipe.
    QuantizationRecorder(const RunConfig& config, Trainer& trainer, std::int64_t steps_planned,
                         const RunStore::NewRun& place, PostEvent post);

    RunRequest before_step(std::int64_t steps, std::int64_t epochs) override;
    void after_step() override;

private:
    void report_products();
    ScaleWatchdog& watchdog(const std::string& module);
    /// Plans the next sample with scale codes after one with so many counts.
    void thin_scales(std::size_t counts);
    void keep(const std::vector<OperandSample>& samples);

    const RunConfig& config_;
    Trainer& trainer_;
    std::int64_t every_;
    const RunStore::NewRun& place_;
    PostEvent post_;
    std::map<std::string, ScaleWatchdog> watchdogs_;  // by module, which may have its own recipe
    std::optional<QuantizationWriter> writer_;
    std::int64_t samples_planned_ = 0, samples_ = 0;
    std::int64_t next_scales_ = 0;  // sample that also counts scale codes
    bool reported_ = false, failed_ = false;
};

}  // namespace engine
