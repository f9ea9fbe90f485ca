#include "optim/common_options.h"

#include "kernels/multi_tensor_update.h"

namespace engine {

OptionSpec learning_rate_option() {
    return option("lr", "Learning rate", {},
                  "Step size. Too high: the loss jumps or becomes NaN. Too low: training stalls.",
                  opt::above(0), opt::fits_f32);
}

OptionSpec weight_decay_option() {
    return option("weight_decay", "Weight decay", {},
                  "Pulls every weight towards 0 in each step, against overfitting.",
                  opt::at_least(0), opt::fits_f32);
}

OptionSpec beta1_option() {
    return option("beta1", "Beta 1", {},
                  "Decay rate of the running mean of gradients. 0.9 averages over about 10 steps.",
                  opt::from_to_below(0, 1));
}

OptionSpec beta2_option() {
    return option("beta2", "Beta 2", {},
                  "Decay rate of the running mean of squared gradients. 0.999 averages over about "
                  "1,000 steps.",
                  opt::from_to_below(0, 1));
}

OptionSpec eps_option() {
    return option("eps", "Epsilon", {},
                  "Small number added to the divisor, so that a weight with tiny gradients does "
                  "not get a huge update.",
                  opt::above(0), opt::fits_f32);
}

std::vector<OptionSpec> larc_options() {
    const kernels::Larc own;
    return {
        option("larc", "LARC", own.on,
               "Scales each layer's rate by the ratio of its weight norm to its gradient norm. "
               "Works with any optimizer."),
        option("larc_trust", "LARC trust", own.trust,
               "Trust coefficient: the share of a layer's weights that LARC lets one step change.",
               opt::above(0), opt::fits_f32, opt::needs("larc")),
        option("larc_clip", "LARC clip", own.clip,
               "On: LARC only shortens steps. Off: its rate always multiplies the learning rate.",
               opt::needs("larc"))};
}

}  // namespace engine
