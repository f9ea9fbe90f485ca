#include "session/live_skips.h"

#include <cmath>
#include <exception>
#include <utility>

#include "engine/base/error.h"
#include "instruments/skips/skip_examination.h"
#include "instruments/skips/skip_files.h"
#include "instruments/skips/skip_verdict.h"

namespace engine {
namespace {

/// The run is to stop.
struct GivenUp {};

/// Training waits, so samples are computed one by one only if that is quick.
constexpr double patience_s = 2;

}  // namespace

RunRequest LiveSkips::before_step(std::int64_t step, std::int64_t) {
    Trainer& trainer = loop_.trainer();
    const bool is_watching = trainer.state_before() != nullptr;
    if (wanted_ == is_watching) return {};
    if (wanted_ && loop_.has_unwritten()) loop_.settle();
    trainer.keep_states(wanted_);
    if (!wanted_) return {};
    // The state may already be damaged, since an unknown step.
    seen_ = step;
    weights_are_finite_ = trainer.state_before()->weights_are_finite();
    is_finite_ = trainer.state_before()->is_finite();
    damaged_by_ = 0;
    damage_examined_ = false;
    return {};
}

void LiveSkips::after_step() {
    if (loop_.trainer().state_before() == nullptr) return;
    if (loop_.has_unwritten()) loop_.settle();
    if (loop_.last_row().step <= seen_) return;
    seen_ = loop_.last_row().step;
    const bool was_finite = is_finite_;
    note_state();
    if (needs_examination() && (was_finite || !damage_examined_)) examine();
    if (is_finite_) {
        damaged_by_ = 0;
        damage_examined_ = false;
    } else if (was_finite) {
        damaged_by_ = seen_;
    }
}

void LiveSkips::note_state() {
    const StateBefore& state = *loop_.trainer().state_before();
    weights_were_finite_ = std::exchange(weights_are_finite_, state.weights_are_finite());
    is_finite_ = weights_are_finite_ && state.is_finite();
}

bool LiveSkips::needs_examination() const {
    const StepRecord& row = loop_.last_row();
    return row.found_inf != 0 || !std::isfinite(row.loss) || !std::isfinite(row.grad_norm) ||
           (weights_were_finite_ && !weights_are_finite_);
}

SkipReport LiveSkips::report(const StepCapsule& capsule) {
    const auto check = [this] {
        if (stop_.stop_requested()) throw GivenUp();
    };
    ExaminationOptions options;
    options.patience_s = patience_s;
    options.progress = [&check](const Message&) { check(); };
    options.operation = [this, &check](std::int64_t done) {
        operations_ = done;
        check();
    };
    SkipReport out = examine_step(capsule, options);
    out.run = loop_.run();
    out.advice = advice_in_run(out, capsule.config, loop_.record());
    if (out.cause != SkipCause::damaged_state) return out;
    damage_examined_ = true;
    out.damaged_at = damaged_by_;
    out.advice = advice_for(out.cause, out);
    return out;
}

void LiveSkips::examine() {
    operations_ = 0;
    step_ = seen_;
    try {
        const StepCapsule capsule = loop_.last_capsule();
        const SkipReport found = report(capsule);
        expected_ = found.operations;
        try {
            keep_examination(loop_.folder(), capsule, found);
        } catch (const Error& error) {
            post_(RunWarning{loop_.run(), error.message(), seen_});
        }
        post_(
            StepExamined{loop_.run(), seen_, name(found.cause), found.verdict(), found.damaged_at});
    } catch (const GivenUp&) {
        // The user can still examine it from a checkpoint.
    } catch (const Error& error) {
        post_(RunWarning{loop_.run(),
                         msg("Step {} could not be examined: {}", seen_, error.message().str()),
                         seen_});
    } catch (const std::exception& error) {
        post_(RunWarning{loop_.run(), msg("Step {} could not be examined: {}", seen_, error.what()),
                         seen_});
    }
    step_ = 0;
}

}  // namespace engine
