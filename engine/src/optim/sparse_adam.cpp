#include "optim/optimizers.h"

#include "ops/index/sparse.h"
#include "optim/optimizer_descriptor.h"

namespace engine {

SparseAdam::SparseAdam(std::vector<Parameter> parameters, const AdamOptions& settings,
                       const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr), settings_(settings) {
    check_moments("sparse_adam", settings.beta1, settings.beta2, settings.eps);
}

void SparseAdam::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) {
    const Tensor& weight = parameters_[i].tensor;
    const Tensor grad = weight.grad();
    if (grad.is_sparse() && !options_.larc.on) return collect_rows(i, tensors);
    if (grad.is_sparse()) weight.set_grad(to_dense(grad));
    Optimizer::collect(i, tensors);
}

void SparseAdam::run(std::span<const kernels::UpdateTensor> tensors,
                     const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    dense_.clear();
    sparse_.clear();
    for (const kernels::UpdateTensor& tensor : tensors)
        (updates_rows(tensor.parameter) ? sparse_ : dense_).push_back(tensor);
    AdamOptions options = settings_;
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
    return with_options<SparseAdam, AdamOptions>(
        {.kind = "sparse-adam",
         .title = "Sparse Adam",
         .summary =
             "Adam that updates only the rows of embedding tables that a batch uses; Adam for the "
             "other weights.",
         .states = [](const TypedOptions&) { return 2; }},
        AdamOptions(),
        {{learning_rate_option(), &AdamOptions::lr},
         {beta1_option(), &AdamOptions::beta1},
         {beta2_option(), &AdamOptions::beta2},
         {eps_option(), &AdamOptions::eps}});
}

}  // namespace engine
