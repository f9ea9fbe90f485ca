#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/attention.h"

/// Description of an attention for the library, in plain numbers: built here, executed by cuDNN
/// (cudnn_attention-inl.h) or, in tests, by loops.
namespace kernels::cuda {

/// Extents and distances in elements: examples, heads, positions, elements of one.
struct AttentionTensor {
    std::array<std::int64_t, 4> dims{}, strides{};
    bool operator==(const AttentionTensor&) const = default;
};

struct AttentionGraph {
    AttentionPass pass = AttentionPass::forward;
    DType dtype = DType::f16;
    AttentionTensor q, k, v, y;
    AttentionTensor dy, dq, dk, dv;  ///< of the backward pass
    AttentionTensor logsumexp;       ///< f32, one element a row
    float scale = 1;
    bool causal = false;
    bool bit_stable = true;  ///< the backward pass gives the same bits in every run
    int device = 0;

    bool operator==(const AttentionGraph&) const = default;
};

struct AttentionGraphHash {
    std::size_t operator()(const AttentionGraph& graph) const noexcept;
};

AttentionGraph describe(const Attention& attention);

/// One pass's addresses; those of gradients are null in the forward pass.
struct AttentionPointers {
    const void *q, *k, *v, *y, *logsumexp;
    const void *dy = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
};

/// Scratch that the library needs. Nothing if it does not support the description; if it does in
/// general but fails, `why` has its message (PlanCache). Makes its plan. Throws DeviceError if the
/// library is missing, OutOfMemory.
std::optional<std::size_t> attention_graph_workspace(const AttentionGraph& graph, std::string* why);
/// Puts it on the stream; attention_graph_workspace has said yes.
void attend(const AttentionGraph& graph, const AttentionPointers& pointers, void* workspace,
            Stream stream);

}  // namespace kernels::cuda
