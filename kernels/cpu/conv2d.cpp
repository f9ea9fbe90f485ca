#include "kernels/conv2d.h"

#include <cassert>

#include "cpu/conv2d_tiled.h"

namespace kernels::cpu {

void conv2d_forward(Array y, ConstArray x, ConstArray w, ConstArray bias, const Conv2dShape& shape,
                    Stream) {
    if (y.size == 0) return;
    conv2d_forward_tiled(y, x, w, bias, shape);
}

void conv2d_data_gradient(Array dx, ConstArray dy, ConstArray w, const Conv2dShape& shape, Stream) {
    if (dx.size == 0) return;
    conv2d_data_gradient_tiled(dx, dy, w, shape);
}

void conv2d_weight_gradient(Array dw, Array dbias, ConstArray dy, ConstArray x,
                            const Conv2dShape& shape, Stream) {
    if (dw.size > 0) conv2d_weight_gradient_tiled(dw, dy, x, shape);
    if (dbias.data && dbias.size > 0) conv2d_bias_gradient(dbias, dy);
}

const char* conv2d_route(DType, const Conv2dShape&) { return "tiled"; }

}  // namespace kernels::cpu
