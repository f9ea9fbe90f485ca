#include "kernels/multi_tensor.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void multi_tensor_judge(Judgement*, std::span<const ConstArray>, Stream) {
    absent("multi_tensor_judge");
}

void multi_tensor_unscale(std::span<const Array>, const float*, float*, Stream) {
    absent("multi_tensor_unscale");
}

void multi_tensor_sgd(std::span<const UpdateTensor>, const SgdOptions&, const UpdateScalars&,
                      UpdateCounts*, Stream) {
    absent("multi_tensor_sgd");
}

void multi_tensor_adam(std::span<const UpdateTensor>, const AdamOptions&, const UpdateScalars&,
                       UpdateCounts*, Stream) {
    absent("multi_tensor_adam");
}

}  // namespace kernels::cuda
