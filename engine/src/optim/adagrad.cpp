#include "optim/optimizers.h"

#include "engine/base/error.h"
#include "kernels/elementwise.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

Adagrad::Adagrad(std::vector<Parameter> parameters, const AdagradOptions& settings,
                 const OptimizerOptions& options)
    : KernelOptimizer(std::move(parameters), settings, options) {
    if (!(settings.lr_decay >= 0) || !(settings.initial_accumulator_value >= 0) ||
        !(settings.eps >= 0)) {
        throw Error(ErrorCode::value,
                    "adagrad: lr_decay, initial_accumulator_value and eps must not be negative");
    }
}

void Adagrad::make_state(std::size_t i) {
    Optimizer::make_state(i);
    on(lr_.device(), kernels::cpu::fill, kernels::cuda::fill)(
        slots_[i].state1.array(), settings_.initial_accumulator_value, current_stream());
}

bool Adagrad::takes_sparse_gradients() const {
    return settings_.weight_decay == 0 && !options_.larc.on;
}

void Adagrad::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    collect_rows_or_all("adagrad", i, true, tensors);
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
         {option("lr_decay", "LR decay", {},
                 "Decay of Adagrad's learning rate with the number of updates (0 = none).",
                 opt::at_least(0), opt::fits_f32),
          &AdagradOptions::lr_decay},
         {option("initial_accumulator_value", "Initial accumulator", {},
                 "Initial value of Adagrad's sums of squared gradients. Above 0, the first steps "
                 "are shorter.",
                 opt::at_least(0), opt::fits_f32),
          &AdagradOptions::initial_accumulator_value}});
}

}  // namespace engine
