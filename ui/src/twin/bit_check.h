#pragma once

#include <QString>
#include <atomic>
#include <cstdint>

#include "engine/settings/run_config.h"

namespace ui {

/// The result of training two settings in lockstep, compared bit for bit.
struct BitCheck {
    std::int64_t steps = 0;  ///< compared
    std::int64_t step = 0;   ///< of the first difference; 0: there is none
    QString tensor;          ///< the first that differs in it, in the order of computation
    QString problem;         ///< why nothing was compared; empty: something was

    bool identical() const { return problem.isEmpty() && steps > 0 && step == 0; }
};

/// A check ends at either.
struct BitCheckLimits {
    std::int64_t steps = 100;
    double seconds = 20;
};

/// Shared with the thread that checks.
struct BitCheckProgress {
    std::atomic<std::int64_t> step{0};
    std::atomic<bool> stop{false};
};

/// Trains both from the start in lockstep. Compares the loss, loss scale and gradient norm of each
/// step bit for bit, and the gradients of each layer value by value if the step was not skipped.
/// Keeps nothing. Blocks until the end, or until `progress` returns stop: not for the GUI thread.
/// Throws nothing.
BitCheck checkBits(const engine::RunConfig& reference, const engine::RunConfig& other,
                   const BitCheckLimits& limits, BitCheckProgress& progress);

}  // namespace ui
