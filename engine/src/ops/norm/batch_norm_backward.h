#pragma once

#include "kernels/batch_norm.h"
#include "parallel/communicator.h"
#include "tensor/tape.h"

namespace engine {

/// Whose rows statistics are of: those of several ranks, or this rank's alone.
struct SyncedRows {
    Communicator* ranks = nullptr;
    std::int64_t rows = 0;  ///< of all ranks
    bool counted = true;    ///< this rank's rows are among them
};

/// Mean and 1 / sqrt(var + eps) by channel, f32 (f64 for f64).
struct BatchNormStatistics {
    Tensor mean, invstd;
    SyncedRows synced{};
};

struct BatchNormBackward {
    Tensor dy;
    Tensor dx;         ///< memory for it, perhaps x's (reuse_saved); undefined: it is allocated
    Tensor dresidual;  ///< memory for it, which may be dy's (reuse_gradient); or undefined
    Tensor x;
    Tensor addend;  ///< a second gradient of y, outside the tape (PairedGradFn); or undefined
    Tensor weight;  ///< or undefined
    Tensor bias;    ///< where y can be recomputed: training, its relu, no residual; or undefined
    Tensor y;       ///< the output, where a relu came last; else undefined
    BatchNormStatistics statistics;
    kernels::BatchNormShape shape;
    bool training;
    bool with_residual;
};

/// Gradients of a batch norm by x, weight, bias and, if asked, residual: one pass. With g = dy
/// (+ addend, rounded) where y > 0: dbias = sum g, dweight = sum g xhat, dx = weight invstd (g -
/// mean g - xhat mean(g xhat)), or weight invstd g for running statistics; dresidual = g.
/// Differentiable again, in plain ops. With statistics of several ranks the means are over the rows
/// of all; dweight and dbias stay this rank's own, and there is no second derivative.
TensorList batch_norm_backward(const BatchNormBackward& args);

}  // namespace engine
