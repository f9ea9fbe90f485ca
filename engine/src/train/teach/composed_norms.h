#pragma once

#include <memory>

#include "engine/settings/run_config.h"
#include "ops/norm/norms.h"

namespace engine {

/// Norms as single operations in 16 bits, if the settings ask for them: the mean, E[x^2] - E[x]^2,
/// epsilon and the square root are each rounded to the low type of the region, else to x's type.
/// The engine's own norms keep their sums in f32 and cannot fail in these ways: E[x^2] overflows
/// fp16 if |x| is above 255.9, the difference may be 0 or negative, and an epsilon below 2^-25 is
/// 0. Null: the settings ask for none.
std::unique_ptr<Norms> make_composed_norms(const TeachConfig& teach);

}  // namespace engine
