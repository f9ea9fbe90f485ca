#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "kernels/attention.h"

/// Description of an attention for the library, in plain numbers: built here, executed by cuDNN
/// (cudnn_plans.cpp) or, in tests, by loops.
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

/// Shapes of which a version of the library computes wrong numbers on a card of that compute
/// capability, fails or crashes. `version` as the library's own number: 91900 is 9.19.0.
bool is_faulty(const Attention& attention, int capability_major, std::size_t version);

/// The parts in which a pass is computed one after the other: a number of examples, or of one
/// example a number of heads. Both divide the whole.
struct AttentionParts {
    std::int64_t examples = 1, heads = 1;
    bool operator==(const AttentionParts&) const = default;
};

/// The largest parts of the attention whose scratch is at most `limit` bytes, where a part of
/// `scratch` bytes has `of` examples and heads and scratch grows as their number. Nothing if one
/// head of k and v with its heads of q is too large.
std::optional<AttentionParts> parts_within(const Attention& attention, AttentionParts of,
                                           std::size_t scratch, std::size_t limit);

/// The attention of one part.
Attention part_of(const Attention& attention, const AttentionParts& parts);

/// One pass's addresses; those of gradients are null in the forward pass.
struct AttentionPointers {
    const void *q, *k, *v, *y, *logsumexp;
    const void *dy = nullptr, *dq = nullptr, *dk = nullptr, *dv = nullptr;
};

/// Scratch that the library needs. Nothing if it does not support the description; if it does in
/// general but fails, `why` has its message (PlanCache). Makes its plan. Throws DeviceError if the
/// library is missing, OutOfMemory.
std::optional<std::size_t> attention_graph_workspace(const AttentionGraph& graph, std::string* why);
/// The library's version, as is_faulty() takes it. Throws DeviceError if it is missing.
std::size_t attention_library_version();
/// Most scratch of a backward pass that must give the same bits in every run: the library's
/// deterministic algorithm writes a number for each head, query and key.
std::size_t attention_scratch_limit();
/// Puts it on the stream; attention_graph_workspace has said yes.
void attend(const AttentionGraph& graph, const AttentionPointers& pointers, void* workspace,
            Stream stream);

}  // namespace kernels::cuda
