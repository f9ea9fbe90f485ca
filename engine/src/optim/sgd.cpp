#include "optim/sgd.h"

#include "core/sparse.h"
#include "engine/error.h"
#include "index/sparse.h"
#include "optim/optimizer_descriptor.h"
#include "optim/sparse_rows.h"

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

void Sgd::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) const {
    const Parameter& parameter = parameters_[i];
    const Tensor& weight = parameter.tensor;
    if (!weight.grad().is_sparse()) return Optimizer::collect(i, tensors);
    if (weight_decay(slots_[i].group) != 0) {
        throw Error(ErrorCode::value,
                    "sgd: the gradient of " + parameter.name +
                        " is sparse, and weight decay changes every weight",
                    "Put the parameter in a group without weight decay, or use a dense gradient.");
    }
    if (settings_.momentum == 0 && !options_.larc.on && weight.is_contiguous()) {
        weight.set_grad(coalesce(weight.grad()));
        add_rows(whole(i, sparse_parts(weight.grad()).values), weight.grad(), tensors);
    } else {
        weight.set_grad(to_dense(weight.grad()));
        Optimizer::collect(i, tensors);
    }
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

OptimizerDescriptor sgd_descriptor() {
    return {
        .kind = "sgd",
        .title = "SGD",
        .summary =
            "Steps along the gradient, smoothed by momentum: the usual choice for image models.",
        .fields = {"lr", "momentum", "nesterov", "weight_decay"},
        // With momentum and decay, which PyTorch's class, and ours, leave out unless given.
        .defaults = {.lr = SgdOptions{}.lr, .momentum = 0.9, .weight_decay = 0.0005},
        .states = [](const OptimizerConfig& c) { return c.momentum > 0 ? 1 : 0; },
        .low_state = true,
        .make = [](const OptimizerConfig& c, std::vector<Parameter> parameters,
                   const OptimizerOptions& options) -> std::unique_ptr<Optimizer> {
            return std::make_unique<Sgd>(std::move(parameters),
                                         SgdOptions{.lr = c.lr,
                                                    .momentum = c.momentum,
                                                    .weight_decay = c.weight_decay,
                                                    .nesterov = c.nesterov},
                                         options);
        }};
}

}  // namespace engine
