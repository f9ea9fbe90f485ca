#include "optim/sparse_adam.h"

#include "core/sparse.h"
#include "optim/check.h"

namespace engine {
namespace {

/// n elements of an array; of none, none.
kernels::Array part(const kernels::Array& array, std::int64_t first, std::int64_t n) {
    if (array.data == nullptr) return array;
    return {static_cast<std::byte*>(array.data) +
                static_cast<std::size_t>(first) * size_of(array.dtype),
            array.dtype, n};
}

/// The row-major number of each place, on the host.
std::vector<std::int64_t> rows_of(const Tensor& indices, const Shape& shape) {
    const Tensor host = indices.copy_to(Device{});
    const std::int64_t n = indices.size(1);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n), 0);
    for (int k = 0; k < static_cast<int>(indices.size(0)); ++k) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = rows[i] * shape[k] +
                      host.data_as<std::int64_t>()[static_cast<std::size_t>(k * n) + i];
    }
    return rows;
}

}  // namespace

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
    const SparseParts& parts = sparse_parts(grad);
    const kernels::UpdateTensor all = whole(i, parts.values);
    const auto rows = rows_of(parts.indices, weight.shape());
    const std::int64_t length = rows.empty() ? 0 : parts.values.numel() / parts.values.size(0);
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
        // Neighbours go together.
        for (end = first + 1; end < rows.size() && rows[end] == rows[end - 1] + 1;) ++end;
        const std::int64_t at = rows[first] * length;
        const std::int64_t n = static_cast<std::int64_t>(end - first) * length;
        tensors.push_back({part(all.master, at, n),
                           part(all.grad, static_cast<std::int64_t>(first) * length, n),
                           part(all.state1, at, n), part(all.state2, at, n), part(all.low, at, n),
                           all.state3, all.group, all.parameter});
    }
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
