#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/options.h"

namespace engine {

/// Options that several optimizers have; each kind brings its own default.
OptionSpec learning_rate_option();
OptionSpec weight_decay_option();
OptionSpec beta1_option();
OptionSpec beta2_option();
OptionSpec eps_option();
/// Layer-wise rates, which every kind takes.
std::vector<OptionSpec> larc_options();

/// Throws Error(value) for a beta outside [0, 1), or a negative eps.
inline void check_moments(const std::string& optimizer, double beta1, double beta2, double eps) {
    const auto in_range = [](double beta) { return beta >= 0 && beta < 1; };
    if (!in_range(beta1) || !in_range(beta2))
        throw Error(ErrorCode::value, optimizer + ": each beta must be in [0, 1)");
    if (!(eps >= 0)) throw Error(ErrorCode::value, optimizer + ": eps must not be negative");
}

}  // namespace engine
