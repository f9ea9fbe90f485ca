#include "cuda/multi_tensor_sums.cuh"

// The optimizers that update each element by itself.
namespace kernels::cuda {
namespace {

template <template <typename> typename Formula, typename Options>
void update(const char* name, std::span<const UpdateTensor> tensors, const Options& options,
            const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    Known known;
    if (scalars.larc.on) {
        const UpdateScratch scratch(tensors, stream);
        known = larc_values(tensors, scratch, scalars, options.weight_decay, stream);
    }
    update_all<Formula>(name, tensors, options, scalars, known, counts, stream);
}

}  // namespace

void multi_tensor_sgd(std::span<const UpdateTensor> tensors, const SgdOptions& options,
                      const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    update<SgdFormula>("multi_tensor_sgd", tensors, options, scalars, counts, stream);
}

void multi_tensor_adam(std::span<const UpdateTensor> tensors, const AdamOptions& options,
                       const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    update<AdamFormula>("multi_tensor_adam", tensors, options, scalars, counts, stream);
}

void multi_tensor_adagrad(std::span<const UpdateTensor> tensors, const AdagradOptions& options,
                          const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) {
    update<AdagradFormula>("multi_tensor_adagrad", tensors, options, scalars, counts, stream);
}

}  // namespace kernels::cuda
