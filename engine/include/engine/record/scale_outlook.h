#pragma once

#include <cstdint>

#include "engine/record/event.h"

namespace engine {

/// The loss scale at which a run starts unless its settings say otherwise: most gradients fit.
inline constexpr float usual_loss_scale = 65536;

/// How many more skips lower the scale to usual_loss_scale, at the rate of this one. 0: it is
/// there, the scale fitted until this skip, or this event is not a skip that lowered it.
std::int64_t skips_to_usual_scale(const ScaleChanged& skip) noexcept;

}  // namespace engine
