#include "train/convolution_warning.h"

#include "core/dims.h"
#include "core/dtype.h"

namespace engine {

Message tell(const kernels::Conv2dFallback& fallback) {
    const kernels::Conv2dShape& s = fallback.shape;
    const char* type = name(fallback.dtype);
    const std::string input = to_string(Shape{s.n, s.c, s.h, s.w});
    const std::string weights = to_string(Shape{s.k, s.c / s.groups, s.r, s.s});
    switch (fallback.pass) {
        case kernels::Conv2dPass::data_gradient:
            return msg(
                "The input gradient of a convolution in {}, input {}, weights {}, groups {}, is "
                "not computed by cuDNN but by plain loops, many times slower. Make its channels "
                "multiples of 8, or train in another precision.",
                type, input, weights, s.groups);
        case kernels::Conv2dPass::weight_gradient:
            return msg(
                "The weight gradient of a convolution in {}, input {}, weights {}, groups {}, is "
                "not computed by cuDNN but by plain loops, many times slower. Make its channels "
                "multiples of 8, or train in another precision.",
                type, input, weights, s.groups);
        default:
            return msg(
                "The forward pass of a convolution in {}, input {}, weights {}, groups {}, is not "
                "computed by cuDNN but by plain loops, many times slower. Make its channels "
                "multiples of 8, or train in another precision.",
                type, input, weights, s.groups);
    }
}

}  // namespace engine
