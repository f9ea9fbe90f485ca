#include "optim/sparse_adam.h"

#include "core/sparse.h"
#include "index/sparse.h"
#include "optim/check.h"
#include "optim/sparse_rows.h"

namespace engine {

SparseAdam::SparseAdam(std::vector<Parameter> parameters, const SparseAdamOptions& settings,
                       const OptimizerOptions& options)
    : Optimizer(std::move(parameters), options, settings.lr), settings_(settings) {
    check_moments("sparse_adam", settings.beta1, settings.beta2, settings.eps);
    if (options.larc.on)
        throw Error(ErrorCode::value, "sparse_adam: LARC goes by norms of whole tensors");
}

void SparseAdam::collect(std::size_t i, std::vector<kernels::UpdateTensor>& tensors) const {
    const Parameter& parameter = parameters_[i];
    const Tensor& weight = parameter.tensor;
    if (!weight.grad().is_sparse()) {
        throw Error(ErrorCode::value,
                    "sparse_adam: the gradient of " + parameter.name + " is dense",
                    "Use Adam for it, or a sparse gradient.");
    }
    if (!weight.is_contiguous())
        throw Error(ErrorCode::value, "sparse_adam: " + parameter.name + " is not row-major");
    const Tensor grad = coalesce(weight.grad());
    weight.set_grad(grad);
    add_rows(whole(i, sparse_parts(grad).values), grad, tensors);
}

void SparseAdam::make_state(std::size_t i) {
    slots_[i].state1 = new_state(i, /*may_be_low=*/false);
    slots_[i].state2 = new_state(i, /*may_be_low=*/false);
}

void SparseAdam::run(std::span<const kernels::UpdateTensor> tensors,
                     const kernels::UpdateScalars& scalars, kernels::UpdateCounts* counts) {
    const kernels::AdamOptions options{.beta1 = settings_.beta1,
                                       .beta2 = settings_.beta2,
                                       .eps = settings_.eps,
                                       .decoupled = false,
                                       .eps_uncorrected = true};
    on(lr_.device(), kernels::cpu::multi_tensor_adam, kernels::cuda::multi_tensor_adam)(
        tensors, options, scalars, counts, current_stream());
}

std::vector<std::string> SparseAdam::state_names() const { return {"exp_avg", "exp_avg_sq"}; }

}  // namespace engine
