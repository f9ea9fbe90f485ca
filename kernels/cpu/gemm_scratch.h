#pragma once

#include <cstddef>

namespace kernels::cpu {

/// Contents of a scratch block; one block of each kind per thread.
enum class Scratch : unsigned char {
    gemm_a,     ///< a thread's rows of a
    gemm_b,     ///< packed panels of b, or packed weights
    gemm_rows,  ///< rows on their way into a panel
    operand_a,  ///< whole operands converted for a library call
    operand_b,
    operand_c,
    operand_d,
    conv_image,
    conv_sums,
    library,  ///< what oneDNN asks for
    library_weights,
    attention_scores,  ///< f32: scores, then weights
    attention_kept,    ///< weights after dropout, or their gradient
    attention_low,     ///< either in the operands' type
    attention_mask,
    attention_sums,  ///< f32: gradients of k and v
    count,
};

/// The calling thread's block of this kind, at least `bytes` long, 64-byte aligned, contents
/// undefined. Valid until the same thread requests a longer one of the kind: a call that needs two
/// blocks uses two kinds. Blocks grow and are kept, so a training step allocates nothing after its
/// first run. Throws OutOfMemory.
void* scratch_bytes(Scratch kind, std::size_t bytes);

template <class T>
T* scratch(Scratch kind, std::size_t count) {
    return static_cast<T*>(scratch_bytes(kind, count * sizeof(T)));
}

}  // namespace kernels::cpu
