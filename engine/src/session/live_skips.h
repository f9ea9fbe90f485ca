#pragma once

#include <atomic>
#include <stop_token>

#include "engine/instruments/skip_report.h"
#include "engine/session/session.h"
#include "train/run/run_loop.h"

namespace engine {

/// Examines the steps of a run that are skipped or come out non-finite, as they happen, from the
/// state before their update (StateBefore), and keeps the reports in the run's folder. Training is
/// bit for bit the same as without it. A damaged state is examined once, until it is finite again.
/// On the compute thread, except for progress().
class LiveSkips final : public RunListener {
public:
    /// `pinned`: watches always (instruments.armed). A request to `stop` gives an examination up.
    LiveSkips(RunLoop& loop, bool pinned, PostEvent post, std::stop_token stop)
        : loop_(loop),
          wanted_(pinned),
          pinned_(pinned),
          post_(std::move(post)),
          stop_(std::move(stop)) {}

    /// Takes effect at the next step. A pinned one always watches.
    void watch(bool on) { wanted_ = on || pinned_; }
    /// Throws what settling the run throws.
    RunRequest before_step(std::int64_t step, std::int64_t epoch) override;
    /// Waits for a watched step, and examines it if needed. Throws what settling the run throws; a
    /// failed examination is a warning.
    void after_step() override;
    /// Thread-safe.
    ExaminationProgress progress() const { return {step_, operations_, expected_}; }

private:
    bool needs_examination() const;
    void note_state();
    void examine();
    SkipReport report(const StepCapsule& capsule);

    RunLoop& loop_;
    bool wanted_, pinned_;
    PostEvent post_;
    std::stop_token stop_;
    std::int64_t seen_ = 0;            // the last step looked at
    bool weights_were_finite_ = true;  // before the last step
    bool weights_are_finite_ = true;
    bool is_finite_ = true;
    std::int64_t damaged_by_ = 0;  // the step that made a state that is not finite; 0: unknown
    bool damage_examined_ = false;
    std::atomic<std::int64_t> step_{0}, operations_{0}, expected_{0};
};

}  // namespace engine
