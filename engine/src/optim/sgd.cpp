#include "optim/optimizers.h"

#include "engine/base/error.h"
#include "ops/index/sparse.h"
#include "optim/optimizer_descriptor.h"

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

void Sgd::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
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
        collect_rows(i, tensors);
    } else {
        weight.set_grad(to_dense(weight.grad()));
        Optimizer::collect(i, tensors);
    }
}

bool Sgd::takes_sparse_gradients() const {
    return settings_.momentum == 0 && settings_.weight_decay == 0 && !options_.larc.on;
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
    // These defaults have momentum and decay; PyTorch's class and ours default to none.
    return {
        .kind = "sgd",
        .title = "SGD",
        .summary =
            "Steps along the gradient, smoothed by momentum: the usual choice for image models.",
        .options = {learning_rate_option(SgdOptions{}.lr),
                    {.name = "momentum",
                     .label = "Momentum",
                     .default_value = 0.9,
                     .help =
                         "Share of the previous direction that each step of SGD keeps: 0 is none, "
                         "0.9 is usual.",
                     .lowest = 0,
                     .highest = 1,
                     .below_highest = true},
                    {.name = "nesterov",
                     .label = "Nesterov",
                     .default_value = false,
                     .help =
                         "Nesterov momentum: looks ahead along the momentum before the step, which "
                         "often converges slightly faster."},
                    weight_decay_option(0.0005)},
        .states = [](const TypedOptions& o) { return o.number("momentum") > 0 ? 1 : 0; },
        .low_state = true,
        .check = [](const TypedOptions& o) -> std::optional<OptionConflict> {
            if (!o.flag("nesterov") || o.number("momentum") > 0) return std::nullopt;
            return OptionConflict{"nesterov", msg("use false, as optimizer.momentum is 0")};
        },
        .make = [](const TypedOptions& o, std::vector<Parameter> parameters,
                   const OptimizerOptions& common) -> std::unique_ptr<Optimizer> {
            return std::make_unique<Sgd>(std::move(parameters),
                                         SgdOptions{.lr = o.number("lr"),
                                                    .momentum = o.number("momentum"),
                                                    .weight_decay = o.number("weight_decay"),
                                                    .nesterov = o.flag("nesterov")},
                                         common);
        }};
}

}  // namespace engine
