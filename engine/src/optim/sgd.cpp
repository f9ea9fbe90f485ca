#include "optim/optimizers.h"

#include "engine/base/error.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

Sgd::Sgd(std::vector<Parameter> parameters, const SgdOptions& settings,
         const OptimizerOptions& options)
    : KernelOptimizer(std::move(parameters), settings, options) {
    if (!(settings.momentum >= 0)) {
        throw Error(ErrorCode::value, "sgd: the momentum must not be negative");
    }
    if (settings.nesterov && (settings.momentum <= 0 || settings.dampening != 0)) {
        throw Error(ErrorCode::value, "sgd: Nesterov momentum needs a momentum and no dampening");
    }
}

void Sgd::make_state(std::size_t i) {
    // A 16-bit weight without a master keeps a 16-bit buffer too: pure fp16 has no f32 anywhere.
    if (settings_.momentum != 0) slots_[i].state1 = new_state(i, /*may_be_low=*/true);
}

void Sgd::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    collect_rows_or_all("sgd", i, settings_.momentum == 0, tensors);
}

bool Sgd::takes_sparse_gradients() const {
    return settings_.momentum == 0 && settings_.weight_decay == 0 && !options_.larc.on;
}

std::vector<std::string> Sgd::state_names() const {
    return settings_.momentum != 0 ? std::vector<std::string>{"momentum_buffer"}
                                   : std::vector<std::string>{};
}

OptimizerDescriptor sgd_descriptor() {
    // A run's defaults have momentum and decay; PyTorch's class and ours default to none.
    return with_options<Sgd, SgdOptions>(
        {.kind = "sgd",
         .title = "SGD",
         .summary =
             "Steps along the gradient, smoothed by momentum: the usual choice for image models.",
         .states = [](const TypedOptions& o) { return o.number("momentum") > 0 ? 1 : 0; },
         .low_state = true,
         .check = [](const TypedOptions& o) -> std::optional<OptionConflict> {
             if (!o.flag("nesterov") || o.number("momentum") > 0) return std::nullopt;
             return OptionConflict{"nesterov", msg("use false, as optimizer.momentum is 0")};
         }},
        {.momentum = 0.9, .weight_decay = 0.0005},
        {{learning_rate_option(), &SgdOptions::lr},
         {option("momentum", "Momentum", {},
                 "Share of the previous direction that each step of SGD keeps: 0 is none, 0.9 is "
                 "usual.",
                 opt::from_to_below(0, 1)),
          &SgdOptions::momentum},
         {option("nesterov", "Nesterov", {},
                 "Nesterov momentum: looks ahead along the momentum before the step, which often "
                 "converges slightly faster."),
          &SgdOptions::nesterov},
         {weight_decay_option(), &SgdOptions::weight_decay}});
}

}  // namespace engine
