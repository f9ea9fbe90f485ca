#pragma once

#include <memory>
#include <vector>

#include "data/loader/batch.h"
#include "train/run/trainer.h"

namespace engine {

/// One step of a run with everything needed to compute it again: settings, the state before it, and
/// its batches. On the host.
struct StepCapsule {
    RunConfig config;
    Schema data;                 ///< of the data set's samples
    TrainingState before;        ///< its counts say which step it is
    std::vector<Batch> batches;  ///< with all fields of the task's schema in training
    PlannedSteps planned = {};   ///< updates that the schedule stretches over
    double rate_multiplier = 1;
    /// The decisions under these settings, once the step was computed; copies share them.
    std::shared_ptr<StepDecisions> decisions = std::make_shared<StepDecisions>();

    /// Number of the step in its run, from 1.
    std::int64_t step() const;
};

/// Computes the step of a capsule on a copy of the run: as it was, or in another precision. Dropout
/// masks, carried state and decisions are those of the original. One thread at a time.
class CapsuleStep {
public:
    explicit CapsuleStep(const StepCapsule& capsule) : CapsuleStep(capsule, capsule.config) {}
    /// `config`: the capsule's settings with changes in how a step computes (precision, scaler,
    /// clip, device, threads). Where they change, and the capsule lacks the decisions of the
    /// original, that is computed first. The capsule must outlive this object. Throws Error.
    CapsuleStep(const StepCapsule& capsule, const RunConfig& config);
    CapsuleStep(const CapsuleStep&) = delete;
    CapsuleStep& operator=(const CapsuleStep&) = delete;

    /// To attach observers to, or to read the model from.
    Trainer& trainer() { return *trainer_; }
    /// Computes the step, its update included. Throws Error.
    CompletedStep run();
    /// Brings the copy back to the state before the step.
    void rewind();

private:
    const StepCapsule& capsule_;
    StateChange change_;
    TrainingState before_;  // the capsule's, with a loss scale where this precision alone has one
    std::unique_ptr<Trainer> trainer_;
    std::unique_ptr<BatchFeed> feed_;
};

}  // namespace engine
