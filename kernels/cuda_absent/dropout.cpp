#include "kernels/dropout.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void dropout_mask(Array, const PhiloxStream&, std::uint64_t, double, Stream) {
    absent("dropout_mask");
}

}  // namespace kernels::cuda
