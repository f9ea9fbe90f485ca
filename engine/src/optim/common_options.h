#pragma once

#include <vector>

#include "engine/base/options.h"

namespace engine {

/// Options that several optimizers have; each kind brings its own default.
OptionSpec learning_rate_option(double default_value);
OptionSpec weight_decay_option(double default_value);
OptionSpec beta1_option(double default_value);
OptionSpec beta2_option(double default_value);
OptionSpec eps_option(double default_value);
/// Layer-wise rates, which every kind takes.
std::vector<OptionSpec> larc_options();

}  // namespace engine
