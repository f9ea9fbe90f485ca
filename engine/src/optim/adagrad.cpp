#include "optim/adagrad.h"

#include "engine/error.h"
#include "kernels/elementwise.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

Adagrad::Adagrad(std::vector<Parameter> parameters, const AdagradOptions& settings,
                 const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr, settings.weight_decay),
      settings_(settings) {
    if (!(settings.lr_decay >= 0) || !(settings.initial_accumulator_value >= 0) ||
        !(settings.eps >= 0)) {
        throw Error(ErrorCode::value,
                    "adagrad: lr_decay, initial_accumulator_value and eps must not be negative");
    }
}

void Adagrad::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    on(lr_.device(), kernels::cpu::fill, kernels::cuda::fill)(
        slots_[i].state1.array(), settings_.initial_accumulator_value, current_stream());
}

void Adagrad::run(std::span<const kernels::UpdateTensor> tensors,
                  const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    const kernels::AdagradOptions options{settings_.lr_decay, settings_.eps, settings_.weight_decay,
                                          settings_.decoupled};
    on(lr_.device(), kernels::cpu::multi_tensor_adagrad, kernels::cuda::multi_tensor_adagrad)(
        tensors, options, scalars, counts, current_stream());
}

std::vector<std::string> Adagrad::state_names() const { return {"sum"}; }

OptimizerDescriptor adagrad_descriptor() {
    const AdagradOptions own;
    return {.kind = "adagrad",
            .title = "Adagrad",
            .summary =
                "Lowers every weight's rate with the sum of its squared gradients. Good for rare "
                "features.",
            .fields = {"lr", "eps", "weight_decay", "lr_decay", "initial_accumulator_value"},
            .defaults = {.lr = own.lr, .weight_decay = own.weight_decay, .eps = own.eps},
            .states = [](const OptimizerConfig&) { return 1; },
            .make = [](const OptimizerConfig& c, std::vector<Parameter> parameters,
                       const OptimizerOptions& options) -> std::unique_ptr<Optimizer> {
                return std::make_unique<Adagrad>(
                    std::move(parameters),
                    AdagradOptions{.lr = c.lr,
                                   .lr_decay = c.lr_decay,
                                   .weight_decay = c.weight_decay,
                                   .initial_accumulator_value = c.initial_accumulator_value,
                                   .eps = c.eps},
                    options);
            }};
}

}  // namespace engine
