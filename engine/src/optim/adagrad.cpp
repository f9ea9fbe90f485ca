#include "optim/optimizers.h"

#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "ops/index/sparse.h"
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

bool Adagrad::takes_sparse_gradients() const {
    return settings_.weight_decay == 0 && !options_.larc.on;
}

void Adagrad::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    const Tensor& weight = parameters_[i].tensor;
    if (!weight.grad().is_sparse()) return Optimizer::collect(i, tensors);
    if (weight_decay(slots_[i].group) != 0) {
        throw Error(ErrorCode::value,
                    "adagrad: the gradient of " + parameters_[i].name +
                        " is sparse, and weight decay changes every weight",
                    "Put the parameter in a group without weight decay, or use a dense gradient.");
    }
    if (!options_.larc.on && weight.is_contiguous()) return collect_rows(i, tensors);
    weight.set_grad(to_dense(weight.grad()));
    Optimizer::collect(i, tensors);
}

void Adagrad::run(std::span<const kernels::UpdateTensor> tensors,
                  const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    on(lr_.device(), kernels::cpu::multi_tensor_adagrad, kernels::cuda::multi_tensor_adagrad)(
        tensors, settings_, scalars, counts, current_stream());
}

std::vector<std::string> Adagrad::state_names() const { return {"sum"}; }

OptimizerDescriptor adagrad_descriptor() {
    return with_options<Adagrad, AdagradOptions>(
        {.kind = "adagrad",
         .title = "Adagrad",
         .summary =
             "Lowers every weight's rate with the sum of its squared gradients. Good for rare "
             "features.",
         .states = [](const TypedOptions&) { return 1; }},
        {},
        {{learning_rate_option(), &AdagradOptions::lr},
         {eps_option(), &AdagradOptions::eps},
         {weight_decay_option(), &AdagradOptions::weight_decay},
         {{.name = "lr_decay",
           .label = "LR decay",
           .help = "Decay of Adagrad's learning rate with the number of updates (0 = none).",
           .lowest = 0,
           .fits_f32 = true},
          &AdagradOptions::lr_decay},
         {{.name = "initial_accumulator_value",
           .label = "Initial accumulator",
           .help = "Initial value of Adagrad's sums of squared gradients. Above 0, the first steps "
                   "are shorter.",
           .lowest = 0,
           .fits_f32 = true},
          &AdagradOptions::initial_accumulator_value}});
}

}  // namespace engine
