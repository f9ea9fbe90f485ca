#include "kernels/batch_norm.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void batch_norm_forward_train(Array, Array, Array, Array, Array, ConstArray, ConstArray, ConstArray,
                              ConstArray, bool, const BatchNormShape&, Stream) {
    absent("batch_norm_forward_train");
}

void batch_norm_forward_infer(Array, ConstArray, ConstArray, ConstArray, ConstArray, ConstArray,
                              ConstArray, bool, const BatchNormShape&, Stream) {
    absent("batch_norm_forward_infer");
}

void batch_norm_backward(Array, Array, Array, Array, ConstArray, ConstArray, ConstArray, ConstArray,
                         ConstArray, ConstArray, bool, bool, const BatchNormShape&, Stream) {
    absent("batch_norm_backward");
}

}  // namespace kernels::cuda
