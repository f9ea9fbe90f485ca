#include "kernels/conv2d.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void conv2d_forward(Array, ConstArray, ConstArray, ConstArray, const Conv2dShape&, Stream) {
    absent("conv2d_forward");
}

void conv2d_data_gradient(Array, ConstArray, ConstArray, const Conv2dShape&, Stream) {
    absent("conv2d_data_gradient");
}

void conv2d_weight_gradient(Array, Array, ConstArray, ConstArray, const Conv2dShape&, Stream) {
    absent("conv2d_weight_gradient");
}

}  // namespace kernels::cuda
