#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/loader/batch.h"
#include "optim/optimizer.h"
#include "tasks/task.h"
#include "train/step/mixed_precision.h"

namespace engine {

/// A step in progress, as its observers see it. References are valid during the call.
struct StepView {
    std::int64_t step;  ///< from 1
    Task& task;
    Model& model;
    MixedPrecision& precision;
    /// All optimizers of the task. A parameter of theirs that required no gradient is left out.
    std::span<Optimizer* const> optimizers;
    std::size_t phase = 0;        ///< index into Task::phases()
    std::size_t micro_batch = 0;  ///< index of the micro-batch of the step
};

/// Sees a training step from outside (decisions.md#observers, D9): histograms, traces, planted
/// faults. Attached to a Trainer. All calls come from the thread that computes, in this order:
///
///     begin
///     for each phase
///         for each micro-batch
///             before_forward  after_forward  after_backward
///         before_update  after_update
///     end
///
/// A step that an observer wants is computed eagerly, never as a captured graph. An observer that
/// also wants the single operations opens an ObserverScope (tensor/observer.h) in `begin` and
/// closes it in `end`, which is called for a step that fails as well. `begin` and `end` must not
/// throw.
class StepObserver {
public:
    virtual ~StepObserver() = default;

    /// Whether it observes the step of this number. Asked once, before the step.
    virtual bool observes(std::int64_t) const { return true; }
    virtual void begin(const StepView&) {}
    /// `batch` and `state` are what the task is about to read; an observer may replace their
    /// tensors. `state` is the carried state, empty where there is none.
    virtual void before_forward(const StepView&, DeviceBatch& /*batch*/, TensorList& /*state*/) {}
    /// The losses are unscaled.
    virtual void after_forward(const StepView&, const TensorList&) {}
    virtual void after_backward(const StepView&) {}
    /// The gradients of the phase's parameters are complete: scaled, neither checked nor clipped;
    /// sparse ones are coalesced.
    virtual void before_update(const StepView&) {}
    /// The phase's optimizers have stepped, or skipped. The loss scale has not moved.
    virtual void after_update(const StepView&) {}
    virtual void end(const StepView&) {}
    /// StepRecord::scale_floor of the step of this number, which ended, if it was measured.
    virtual std::optional<float> scale_floor(std::int64_t) const { return std::nullopt; }
};

/// The observers of a trainer's steps.
class StepObservers {
public:
    explicit StepObservers(const StepView& view) : view_(view) {}

    /// The observer sees every step that it wants until it is detached.
    void attach(std::shared_ptr<StepObserver> observer) {
        observers_.push_back(std::move(observer));
    }
    void detach(const StepObserver& observer) {
        const auto is_it = [&](const auto& each) { return each.get() == &observer; };
        std::erase_if(observers_, is_it);
        std::erase_if(observing_, is_it);
    }
    /// Determines which observers want the next step, number `step` of the run from 1.
    void announce(std::int64_t step) {
        view_.step = step;
        observing_.clear();
        for (const auto& observer : observers_) {
            if (observer->observes(step)) observing_.push_back(observer);
        }
    }
    /// Whether one wants that step, so that it must be computed eagerly.
    bool any() const { return !observing_.empty(); }
    /// Calls f(observer, view) for each that does.
    template <typename F>
    void notify(std::size_t phase, std::size_t micro_batch, const F& f) {
        view_.phase = phase;
        view_.micro_batch = micro_batch;
        for (const auto& observer : observing_) f(*observer, view_);
    }
    /// See StepObserver::scale_floor(); NaN: none has measured it.
    float scale_floor(std::int64_t step) const {
        float out = std::numeric_limits<float>::quiet_NaN();
        for (const auto& observer : observers_) {
            if (const auto floor = observer->scale_floor(step)) out = *floor;
        }
        return out;
    }

    /// Opens a step for its observers, and closes it, also if it fails.
    class Observation {
    public:
        explicit Observation(StepObservers& observers) : observers_(observers) {
            observers_.notify(0, 0,
                              [](StepObserver& each, const StepView& step) { each.begin(step); });
        }
        ~Observation() {
            observers_.notify(0, 0,
                              [](StepObserver& each, const StepView& step) { each.end(step); });
            observers_.observing_.clear();
        }
        Observation(const Observation&) = delete;
        Observation& operator=(const Observation&) = delete;

    private:
        StepObservers& observers_;
    };

private:
    StepView view_;
    std::vector<std::shared_ptr<StepObserver>> observers_;
    std::vector<std::shared_ptr<StepObserver>> observing_;  // those that want the next step
};

}  // namespace engine
