#include "optim/common_options.h"

#include "kernels/multi_tensor_update.h"

namespace engine {

OptionSpec learning_rate_option() {
    return {.name = "lr",
            .label = "Learning rate",
            .help = "Step size. Too high: the loss jumps or becomes NaN. Too low: training stalls.",
            .lowest = 0,
            .above_lowest = true,
            .fits_f32 = true};
}

OptionSpec weight_decay_option() {
    return {.name = "weight_decay",
            .label = "Weight decay",
            .help = "Pulls every weight towards 0 in each step, against overfitting.",
            .lowest = 0,
            .fits_f32 = true};
}

OptionSpec beta1_option() {
    return {
        .name = "beta1",
        .label = "Beta 1",
        .help = "Decay rate of the running mean of gradients. 0.9 averages over about 10 steps.",
        .lowest = 0,
        .highest = 1,
        .below_highest = true};
}

OptionSpec beta2_option() {
    return {.name = "beta2",
            .label = "Beta 2",
            .help =
                "Decay rate of the running mean of squared gradients. 0.999 averages over about "
                "1,000 steps.",
            .lowest = 0,
            .highest = 1,
            .below_highest = true};
}

OptionSpec eps_option() {
    return {.name = "eps",
            .label = "Epsilon",
            .help =
                "Small number added to the divisor, so that a weight with tiny gradients does "
                "not get a huge update.",
            .lowest = 0,
            .above_lowest = true,
            .fits_f32 = true};
}

std::vector<OptionSpec> larc_options() {
    const kernels::Larc own;
    return {{.name = "larc",
             .label = "LARC",
             .default_value = own.on,
             .help = "Scales each layer's rate by the ratio of its weight norm to its gradient "
                     "norm. Works with any optimizer."},
            {.name = "larc_trust",
             .label = "LARC trust",
             .default_value = own.trust,
             .help = "Trust coefficient: the share of a layer's weights that LARC lets one step "
                     "change.",
             .lowest = 0,
             .above_lowest = true,
             .fits_f32 = true,
             .needs = "larc"},
            {.name = "larc_clip",
             .label = "LARC clip",
             .default_value = own.clip,
             .help = "On: LARC only shortens steps. Off: its rate always multiplies the learning "
                     "rate.",
             .needs = "larc"}};
}

}  // namespace engine
