#include "kernels/pool.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void max_pool2d_forward(Array, Array, ConstArray, const Pool2dShape&, Stream) {
    absent("max_pool2d_forward");
}

void max_pool2d_backward(Array, ConstArray, ConstArray, const Pool2dShape&, Stream) {
    absent("max_pool2d_backward");
}

void max_pool2d_gather(Array, ConstArray, ConstArray, const Pool2dShape&, Stream) {
    absent("max_pool2d_gather");
}

void avg_pool2d_forward(Array, ConstArray, const Pool2dShape&, Stream) {
    absent("avg_pool2d_forward");
}

void avg_pool2d_backward(Array, ConstArray, const Pool2dShape&, Stream) {
    absent("avg_pool2d_backward");
}

void adaptive_avg_pool2d_forward(Array, ConstArray, const Pool2dShape&, Stream) {
    absent("adaptive_avg_pool2d_forward");
}

void adaptive_avg_pool2d_backward(Array, ConstArray, const Pool2dShape&, Stream) {
    absent("adaptive_avg_pool2d_backward");
}

}  // namespace kernels::cuda
