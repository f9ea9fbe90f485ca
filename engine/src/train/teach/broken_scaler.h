#pragma once

#include <memory>

#include "engine/settings/run_config.h"
#include "optim/loss_scaler.h"

namespace engine {

/// A loss scaler with the mistakes that the settings (teach) ask for: it clips scaled gradients to
/// an unscaled bound, moves after each micro-batch, or begins anew where a run resumes. Null: they
/// ask for none.
std::unique_ptr<LossScaler> make_broken_scaler(const RunConfig& config, const Device& device);

}  // namespace engine
