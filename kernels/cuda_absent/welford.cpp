#include "kernels/welford.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void welford_local(Array, Array, ConstArray, std::int64_t, std::int64_t, Stream) {
    absent("welford_local");
}

void welford_merge(Array, Array, Array, ConstArray, ConstArray, ConstArray, std::int64_t, Stream) {
    absent("welford_merge");
}

void welford_backward_sums(Array, Array, ConstArray, ConstArray, ConstArray, std::int64_t,
                           std::int64_t, Stream) {
    absent("welford_backward_sums");
}

}  // namespace kernels::cuda
