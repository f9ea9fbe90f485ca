#include "kernels/multi_tensor.h"

#include "cuda_absent/absent.h"
#include "kernels/multi_tensor_update.h"

namespace kernels::cuda {

void multi_tensor_judge(Judgement*, std::span<const ConstArray>, Stream) {
    absent("multi_tensor_judge");
}

void multi_tensor_unscale(std::span<const Array>, const float*, float*, Stream) {
    absent("multi_tensor_unscale");
}

void multi_tensor_axpby(std::span<const Array>, double, std::span<const ConstArray>, double,
                        std::span<const ConstArray>, float*, Stream) {
    absent("multi_tensor_axpby");
}

void multi_tensor_l2_norm(float*, float*, std::span<const ConstArray>, Stream) {
    absent("multi_tensor_l2_norm");
}

void multi_tensor_sgd(std::span<const UpdateTensor>, const SgdOptions&, const UpdateScalars&,
                      UpdateCounts*, Stream) {
    absent("multi_tensor_sgd");
}

void multi_tensor_adam(std::span<const UpdateTensor>, const AdamOptions&, const UpdateScalars&,
                       UpdateCounts*, Stream) {
    absent("multi_tensor_adam");
}

void multi_tensor_adagrad(std::span<const UpdateTensor>, const AdagradOptions&,
                          const UpdateScalars&, UpdateCounts*, Stream) {
    absent("multi_tensor_adagrad");
}

void multi_tensor_lamb(std::span<const UpdateTensor>, const LambOptions&, const UpdateScalars&,
                       UpdateCounts*, Stream) {
    absent("multi_tensor_lamb");
}

void multi_tensor_novograd(std::span<const UpdateTensor>, const NovoGradOptions&,
                           const UpdateScalars&, UpdateCounts*, Stream) {
    absent("multi_tensor_novograd");
}

}  // namespace kernels::cuda
