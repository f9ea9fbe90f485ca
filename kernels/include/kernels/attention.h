#pragma once

#include <cstddef>
#include <optional>

#include "kernels/array.h"
#include "kernels/dropout.h"
#include "kernels/kernel.h"

namespace kernels {

/// Elements from one example, head or position to the next; those of one position are contiguous.
struct AttentionStrides {
    std::int64_t batch = 0, head = 0, row = 0;
    bool operator==(const AttentionStrides&) const = default;
};

enum class AttentionPass { forward, backward };

/// y = softmax(scale q k^T) v without the scores in memory: q (N, H, L, E), k (N, G, S, E), v (N,
/// G, S, V), y (N, H, L, V), all f16 or all bf16. G divides H: each head of k and v serves H / G
/// neighbouring heads of q. Causal: position i sees keys 0 to i, and S = L.
struct Attention {
    AttentionPass pass = AttentionPass::forward;
    DType dtype = DType::f16;
    std::int64_t batch = 0, heads = 0, kv_heads = 0;  ///< N, H, G
    std::int64_t queries = 0, keys = 0;               ///< L, S
    std::int64_t qk_size = 0, v_size = 0;             ///< E, V
    float scale = 1;
    bool causal = false;
    AttentionStrides q = {}, k = {}, v = {}, y = {};
    AttentionStrides dy = {}, dq = {}, dk = {}, dv = {};  ///< of the backward pass

    bool operator==(const Attention&) const = default;
};

struct AttentionForwardData {
    const void *q, *k, *v;
    void* y;
    float* logsumexp;  ///< (N, H, L) dense: ln of the sum of exp of a row's scaled scores
};
struct AttentionBackwardData {
    const void *q, *k, *v, *y, *dy;
    const float* logsumexp;
    void *dq, *dk, *dv;
};

/// The fused kernels of a library, on CUDA. Where it has none, attention is composed of products
/// and a softmax.
///
/// Scores, exp and sums are f32. Values rounded to the dtype on the way:
/// - exp of a score, for its product with v or dy (in the forward pass before the division by the
///   row's sum);
/// - the scores' gradient, for its products with q and k;
/// - the gradients of k and v of each head of q, before those of a group are added;
/// - the results.
///
/// Row i of the gradient uses the sum of dy y from the rounded y. The same bits in every run. The
/// library does not document results for infinite or NaN scores.
namespace cuda {

/// Alignment in bytes of every pointer, and of every stride of a dimension longer than 1.
constexpr std::size_t attention_alignment = 16;

/// Scratch in bytes on the thread's device. Nothing if there is no kernel, or if its plan cannot be
/// made at present; the fallback is then recorded (kernels/library_fallback.h), unless no version
/// of the library supports the description. Makes the plan once for each description. Throws
/// DeviceError if the library is missing, OutOfMemory.
std::optional<std::size_t> attention_workspace(const Attention& attention);

}  // namespace cuda

/// On the stream; attention_workspace has given the bytes at `workspace` (256-byte aligned).
using AttentionForward = void(const Attention& attention, const AttentionForwardData& data,
                              void* workspace, Stream stream);
HALFTONE_CUDA_KERNEL(AttentionForward, attention_forward);
using AttentionBackward = void(const Attention& attention, const AttentionBackwardData& data,
                               void* workspace, Stream stream);
HALFTONE_CUDA_KERNEL(AttentionBackward, attention_backward);

/// Dropout of the weights: number `source.offset + ((n H + h) L + i) S + j` decides on weight j of
/// position i of head h of example n, as dropout_mask draws it.
struct AttentionDropout {
    MaskSource source;
    double p = 0;  ///< 0: none
};

/// Attention on the CPU, in f32 too, with G = H and any S for a causal mask. No alignment is asked
/// for. Scores lie in scratch of each thread, a few rows at a time. Every value is rounded where
/// the composed form rounds it (engine/src/ops/attention/attention.cpp), infinite and NaN ones
/// included, so only the order of sums differs. `logsumexp` is not written, and neither it nor `y`
/// is read by the backward pass, which computes the weights again. Throws OutOfMemory.
namespace cpu {

void attention_forward(const Attention& attention, const AttentionForwardData& data,
                       const AttentionDropout& dropout);
void attention_backward(const Attention& attention, const AttentionBackwardData& data,
                        const AttentionDropout& dropout);

}  // namespace cpu

}  // namespace kernels
