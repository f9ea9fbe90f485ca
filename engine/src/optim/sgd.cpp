#include "optim/sgd.h"

#include "engine/error.h"

namespace engine {

Sgd::Sgd(std::vector<Parameter> parameters, const SgdOptions& settings,
         const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr, settings.weight_decay),
      settings_(settings) {
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

void Sgd::run(std::span<const kernels::UpdateTensor> tensors, const kernels::UpdateScalars& scalars,
              kernels::UpdateCounts* counts) {
    const kernels::SgdOptions options{settings_.momentum, settings_.dampening,
                                      settings_.weight_decay, settings_.nesterov,
                                      settings_.decay_after_momentum};
    on(lr_.device(), kernels::cpu::multi_tensor_sgd, kernels::cuda::multi_tensor_sgd)(
        tensors, options, scalars, counts, current_stream());
}

std::vector<std::string> Sgd::state_names() const {
    return settings_.momentum != 0 ? std::vector<std::string>{"momentum_buffer"}
                                   : std::vector<std::string>{};
}

}  // namespace engine
