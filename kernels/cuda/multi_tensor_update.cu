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

#define HALFTONE_UPDATE(Name, name)                                                               \
    void multi_tensor_##name(std::span<const UpdateTensor> tensors, const Name##Options& options, \
                             const UpdateScalars& scalars, UpdateCounts* counts, Stream stream) { \
        update<Name##Formula>("multi_tensor_" #name, tensors, options, scalars, counts, stream);  \
    }
#include "kernels/updates.inc"

}  // namespace kernels::cuda
