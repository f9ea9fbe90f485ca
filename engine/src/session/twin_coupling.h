#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/record/twin.h"
#include "instruments/twin/gradient_gap.h"
#include "record/twin_record.h"
#include "train/run/run_loop.h"

namespace engine {

/// Couples the two sessions of a twin. Options may be set from any thread; everything else is
/// called on the compute thread, or while it is paused (a session that is destroyed leaves so).
class Twin::Coupling {
public:
    explicit Coupling(const TwinOptions& options);
    ~Coupling();

    void resync();
    void set_resync_every(std::int64_t steps);
    void set_skip_together(bool on);

    /// To be called when the session has prepared its run. Throws Error(state) if its model has
    /// other parameters than the other one's, or if the runs are at different steps and one of them
    /// takes over what the other one does. A run that has come less far catches up by itself.
    void join(Side side, RunLoop& loop);
    /// Whether the other session has made a step that this one has not.
    bool is_behind(Side side) const;
    /// Whether it is the session's turn: the second session computes each step first. Always true
    /// once the other session has left.
    bool may_step(Side side) const;
    /// To be called when the session's step was computed and settled. Throws Error(io) if the
    /// comparison cannot be written; the sessions then go on uncoupled.
    void stepped(Side side);
    /// The session has ended, or will not start.
    void leave(Side side);

private:
    class Keeper;
    class Comparer;
    struct Half {
        RunLoop* loop = nullptr;
        bool left = false;
        std::int64_t steps = 0;
        std::int64_t updates = 0;
        bool skipped = false;  ///< its last step
        std::shared_ptr<StepObserver> observer;
    };
    Half& half(Side side) { return halves_[static_cast<std::size_t>(side)]; }
    const Half& half(Side side) const { return halves_[static_cast<std::size_t>(side)]; }
    void start();
    bool takes_over() const;
    void begin_sharing();
    bool may_couple() const;
    void couple();
    void finish_step();
    bool resync_is_due(std::int64_t step);
    void copy_state();
    void uncouple();

    std::array<Half, 2> halves_;
    std::vector<ParameterLayer> layers_;  ///< empty until both have joined
    std::optional<TwinRecordWriter> writer_;
    GradientMap kept_;           ///< of the second one's step
    std::shared_ptr<StepDecisions> decisions_;  ///< likewise; null: they are not shared
    std::vector<TwinRow> rows_;  ///< of the step in progress

    mutable std::mutex mutex_;  // guards the rest
    TwinOptions options_;
    bool resync_asked_ = false;
};

}  // namespace engine
