#pragma once

#include "kernels/multi_tensor.h"

namespace kernels::cpu {

/// An update with the device scalars read and everything that is the same for all elements worked
/// out in double.
struct SgdStep {
    double grad_factor;  ///< 1 / scale, as an f32
    double clip;
    bool write_grads;
    double lr, momentum, undamped, weight_decay;
    bool nesterov, first_step;
};
struct AdamStep {
    double grad_factor;
    double clip;
    bool write_grads;
    double decay;  ///< decoupled: the factor of p before the update; 1 otherwise
    double weight_decay, beta1, beta2, eps;
    double step_size;  ///< lr / (1 - beta1^step)
    double root_c2;    ///< sqrt(1 - beta2^step)
};

/// n elements of one tensor from `first` on, f64 master; grad of any floating dtype.
void sgd_double(const UpdateTensor& tensor, std::int64_t first, std::int64_t n,
                const SgdStep& step);
void adam_double(const UpdateTensor& tensor, std::int64_t first, std::int64_t n,
                 const AdamStep& step);

}  // namespace kernels::cpu
