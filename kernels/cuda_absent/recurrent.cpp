#include "kernels/recurrent.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void recurrent_forward(Array, Array, ConstArray, ConstArray, ConstArray, const RecurrentShape&,
                       Stream) {
    absent("recurrent_forward");
}

void recurrent_backward(Array, Array, Array, ConstArray, ConstArray, ConstArray, ConstArray,
                        ConstArray, ConstArray, const RecurrentShape&, Stream) {
    absent("recurrent_backward");
}

}  // namespace kernels::cuda
