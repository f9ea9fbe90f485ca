#include "optim/optimizers.h"

#include "ops/index/sparse.h"
#include "optim/common_options.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

SparseAdam::SparseAdam(std::vector<Parameter> parameters, const SparseAdamOptions& settings,
                       const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr), settings_(settings) {
    check_moments("sparse_adam", settings.beta1, settings.beta2, settings.eps);
    if (options.larc.on && !settings.dense)
        throw Error(ErrorCode::value, "sparse_adam: LARC goes by norms of whole tensors");
}

void SparseAdam::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    const Parameter& parameter = parameters_[i];
    const Tensor grad = parameter.tensor.grad();
    if (grad.is_sparse() && !options_.larc.on) return collect_rows(i, tensors);
    if (grad.is_sparse()) parameter.tensor.set_grad(to_dense(grad));
    if (settings_.dense) return Optimizer::collect(i, tensors);
    throw Error(ErrorCode::value, "sparse_adam: the gradient of " + parameter.name + " is dense",
                "Use Adam for it, or a sparse gradient.");
}

void SparseAdam::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    slots_[i].state2 = new_state(i, /*may_be_low=*/false);
}

void SparseAdam::run(std::span<const kernels::UpdateTensor> tensors,
                     const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    dense_.clear();
    sparse_.clear();
    for (const kernels::UpdateTensor& tensor : tensors)
        (updates_rows(tensor.parameter) ? sparse_ : dense_).push_back(tensor);
    kernels::AdamOptions options{.beta1 = settings_.beta1,
                                 .beta2 = settings_.beta2,
                                 .eps = settings_.eps,
                                 .decoupled = false};
    const auto update =
        on(lr_.device(), kernels::cpu::multi_tensor_adam, kernels::cuda::multi_tensor_adam);
    // A call sets the counts, so they are those of the dense parameters where there are any.
    if (!dense_.empty()) update(dense_, options, scalars, counts, current_stream());
    if (sparse_.empty()) return;
    options.eps_uncorrected = true;
    update(sparse_, options, scalars, dense_.empty() ? counts : nullptr, current_stream());
}

std::vector<std::string> SparseAdam::state_names() const { return {"exp_avg", "exp_avg_sq"}; }

OptimizerDescriptor sparse_adam_descriptor() {
    const SparseAdamOptions own;
    return {.kind = "sparse-adam",
            .title = "Sparse Adam",
            .summary =
                "Adam that updates only the rows of embedding tables that a batch uses; Adam for "
                "the other weights.",
            .options = {learning_rate_option(own.lr), beta1_option(own.beta1),
                        beta2_option(own.beta2), eps_option(own.eps)},
            .states = [](const TypedOptions&) { return 2; },
            .make = [](const TypedOptions& o, std::vector<Parameter> parameters,
                       const OptimizerOptions& common) -> std::unique_ptr<Optimizer> {
                return std::make_unique<SparseAdam>(std::move(parameters),
                                                    SparseAdamOptions{.lr = o.number("lr"),
                                                                      .beta1 = o.number("beta1"),
                                                                      .beta2 = o.number("beta2"),
                                                                      .eps = o.number("eps"),
                                                                      .dense = true},
                                                    common);
            }};
}

}  // namespace engine
