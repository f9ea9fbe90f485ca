#pragma once

#include "cuda/attention_graph.h"
#include "cuda/cudnn_plans.h"

/// Attention as a graph of cuDNN's. Part of cudnn_plans.cpp.
namespace kernels::cuda::attention {
namespace {

enum Uid : std::int64_t {
    uid_q = 1,
    uid_k,
    uid_v,
    uid_y,
    uid_logsumexp,
    uid_dy,
    uid_dq,
    uid_dk,
    uid_dv
};

/// With cuDNN up to 9.15.0 and a key length that is no multiple of 128, the frontend copies all
/// sequences' lengths from the host in each backward call. That waits, and cannot be captured.
bool copies_from_host(const AttentionGraph& g) {
    return g.pass == AttentionPass::backward && g.k.dims[2] % 128 != 0 &&
           fe::detail::get_backend_version() <= 91500;
}

template <typename Attributes>
Attributes options(const AttentionGraph& g) {
    Attributes all;
    all.set_attn_scale(g.scale);
    if (g.causal)
        all.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
            .set_diagonal_band_right_bound(0);
    return all;
}

struct Operands {
    GraphTensor q, k, v;
};

Operands add_operands(fe::graph::Graph& graph, const AttentionGraph& g) {
    return {graph.tensor(attributes(g.q, g.dtype, uid_q)),
            graph.tensor(attributes(g.k, g.dtype, uid_k)),
            graph.tensor(attributes(g.v, g.dtype, uid_v))};
}

void add_forward(fe::graph::Graph& graph, const AttentionGraph& g) {
    const auto [q, k, v] = add_operands(graph, g);
    const auto [y, logsumexp] =
        graph.sdpa(q, k, v, options<fe::graph::SDPA_attributes>(g).set_generate_stats(true));
    write_as(y, g.y, g.dtype, uid_y);
    write_as(logsumexp, g.logsumexp, DType::f32, uid_logsumexp);
}

void add_backward(fe::graph::Graph& graph, const AttentionGraph& g) {
    const auto [q, k, v] = add_operands(graph, g);
    const auto gradients = graph.sdpa_backward(
        q, k, v, graph.tensor(attributes(g.y, g.dtype, uid_y)),
        graph.tensor(attributes(g.dy, g.dtype, uid_dy)),
        graph.tensor(attributes(g.logsumexp, DType::f32, uid_logsumexp)),
        options<fe::graph::SDPA_backward_attributes>(g).set_deterministic_algorithm(g.bit_stable));
    write_as(gradients[0], g.dq, g.dtype, uid_dq);
    write_as(gradients[1], g.dk, g.dtype, uid_dk);
    write_as(gradients[2], g.dv, g.dtype, uid_dv);
}

struct Family {
    using Description = AttentionGraph;
    using Hash = AttentionGraphHash;
    static constexpr bool loads_kernels = true;
    /// No limit: the replacement needs memory for a score of each query and key.
    static std::int64_t most_workspace(const DeviceInfo&) {
        return std::numeric_limits<std::int64_t>::max();
    }

    /// Scores, exp and sums in f32.
    static bool add(fe::graph::Graph& graph, const AttentionGraph& g) {
        if (copies_from_host(g)) return false;
        graph.set_io_data_type(type_of(g.dtype))
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        if (g.pass == AttentionPass::forward)
            add_forward(graph, g);
        else
            add_backward(graph, g);
        return true;
    }

    /// No sums in a narrower type; and the same numbers in every run, unless the settings say
    /// otherwise.
    static std::vector<fe::NumericalNote_t> unwanted(const AttentionGraph& g) {
        std::vector<fe::NumericalNote_t> notes = {fe::NumericalNote_t::DOWN_CONVERT_INPUTS,
                                                  fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION};
        if (g.bit_stable) notes.push_back(fe::NumericalNote_t::NONDETERMINISTIC);
        return notes;
    }
    /// Always the library's first choice.
    static std::string engine(const AttentionGraph&) { return {}; }
};

VariantPack variant(const AttentionGraph& g, const AttentionPointers& p) {
    VariantPack pack = {{uid_q, argument(p.q)},
                        {uid_k, argument(p.k)},
                        {uid_v, argument(p.v)},
                        {uid_y, argument(p.y)},
                        {uid_logsumexp, argument(p.logsumexp)}};
    if (g.pass == AttentionPass::backward)
        pack.insert({{uid_dy, argument(p.dy)},
                     {uid_dq, argument(p.dq)},
                     {uid_dk, argument(p.dk)},
                     {uid_dv, argument(p.dv)}});
    return pack;
}

}  // namespace
}  // namespace kernels::cuda::attention
