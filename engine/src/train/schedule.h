#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "engine/run_config.h"

namespace engine {

/// Learning rate for the update after `updates` applied ones (skipped steps do not advance it).
/// cosine: lr / 2 * (1 + cos(pi * updates / planned)), down to 0 (Loshchilov & Hutter 2017, one
/// cycle).
inline double learning_rate(const RunConfig& config, std::int64_t updates, std::int64_t planned) {
    const double lr = config.optimizer.lr;
    if (config.schedule.kind != "cosine" || planned <= 0) return lr;
    const double part = std::min(1.0, static_cast<double>(updates) / static_cast<double>(planned));
    return lr * 0.5 * (1.0 + std::cos(std::numbers::pi * part));
}

}  // namespace engine
