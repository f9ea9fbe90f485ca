#pragma once

#include <cmath>
#include <cstdint>

#include "engine/base/message.h"
#include "engine/record/step_record.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Outcome of a step.
enum class StepOutcome : std::uint8_t {
    applied,       ///< all gradients were finite, and the weights moved
    skipped,       ///< gradients overflowed, and the dynamic scaler left the update out
    skipped_loss,  ///< the loss itself was not finite, and the update was left out
    overflowed,    ///< gradients were not finite and applied: by a static scaler, or without one
    broken_loss,   ///< the loss was not finite, and the update was made
};

inline StepOutcome outcome_of(bool skipped, double loss, double grad_norm) {
    if (!std::isfinite(loss)) return skipped ? StepOutcome::skipped_loss : StepOutcome::broken_loss;
    if (skipped) return StepOutcome::skipped;
    return std::isfinite(grad_norm) ? StepOutcome::applied : StepOutcome::overflowed;
}
/// For steps of this program alone: others may not measure the norm, and write NaN.
inline StepOutcome outcome_of(const StepRecord& row) {
    return outcome_of(row.found_inf != 0, static_cast<double>(row.loss),
                      static_cast<double>(row.grad_norm));
}
/// Whether the scaler does not put it right by itself.
constexpr bool is_bad(StepOutcome outcome) {
    return outcome != StepOutcome::applied && outcome != StepOutcome::skipped;
}

/// Advice on gradients that overflowed and were applied, in the words of the error that ends such a
/// run, of lint and of the examination.
Message applied_overflow_advice(const RunConfig& config);

}  // namespace engine
