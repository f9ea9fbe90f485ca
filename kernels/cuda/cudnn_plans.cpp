#include "cuda/cudnn_plans.h"

#include <algorithm>

#include "cuda/attention_graph.h"
#include "cuda/conv2d_graph.h"

// Attention as a graph of cuDNN's.
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
    static std::int64_t max_workspace(const DeviceInfo&) {
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

// Convolutions as graphs of cuDNN's.
namespace kernels::cuda::convolution {
namespace {

enum Uid : std::int64_t { uid_x = 1, uid_w, uid_y, uid_bias };

template <typename Attributes>
Attributes window(const ConvGraph& g) {
    return Attributes()
        .set_padding(list(g.padding))
        .set_stride(list(g.stride))
        .set_dilation(list(g.dilation));
}

GraphTensor add_forward(fe::graph::Graph& graph, const ConvGraph& g) {
    const GraphTensor x = graph.tensor(attributes(g.x, g.x.dtype, uid_x));
    const GraphTensor w = graph.tensor(attributes(g.w, g.w.dtype, uid_w));
    GraphTensor y = graph.conv_fprop(x, w, window<fe::graph::Conv_fprop_attributes>(g));
    if (!g.bias) return y;
    // Between the two the sums stay in the compute type, so that the store alone rounds.
    y->set_dim(list(g.y.dims)).set_stride(list(g.y.strides));
    const GraphTensor bias = graph.tensor(attributes(*g.bias, g.bias->dtype, uid_bias));
    return graph.pointwise(y, bias,
                           fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::ADD));
}

GraphTensor add_data_gradient(fe::graph::Graph& graph, const ConvGraph& g) {
    const GraphTensor dy = graph.tensor(attributes(g.y, g.y.dtype, uid_y));
    const GraphTensor w = graph.tensor(attributes(g.w, g.w.dtype, uid_w));
    return graph.conv_dgrad(dy, w, window<fe::graph::Conv_dgrad_attributes>(g));
}

GraphTensor add_weight_gradient(fe::graph::Graph& graph, const ConvGraph& g) {
    const GraphTensor dy = graph.tensor(attributes(g.y, g.y.dtype, uid_y));
    const GraphTensor x = graph.tensor(attributes(g.x, g.x.dtype, uid_x));
    return graph.conv_wgrad(dy, x, window<fe::graph::Conv_wgrad_attributes>(g));
}

struct Written {
    GraphTensor tensor;
    const ConvTensor* as;
    std::int64_t uid;
};

Written add_operation(fe::graph::Graph& graph, const ConvGraph& g) {
    switch (g.operation) {
        case ConvOperation::forward:
            return {add_forward(graph, g), &g.y, uid_y};
        case ConvOperation::data_gradient:
            return {add_data_gradient(graph, g), &g.x, uid_x};
        default:
            return {add_weight_gradient(graph, g), &g.w, uid_w};
    }
}

struct Family {
    using Description = ConvGraph;
    using Hash = ConvGraphHash;
    static constexpr bool loads_kernels = false;
    /// Limited, because a stream's scratch stays as large as its largest pass needs.
    static std::int64_t max_workspace(const DeviceInfo& device) {
        return std::min(std::int64_t{1} << 30, device.memory_bytes / 8);
    }
    static bool add(fe::graph::Graph& graph, const ConvGraph& g);
    static std::vector<fe::NumericalNote_t> unwanted(const ConvGraph& g);
    static const std::string& engine(const ConvGraph& g) { return g.engine; }
};

/// Sums in f32, in f64 for f64.
bool Family::add(fe::graph::Graph& graph, const ConvGraph& g) {
    const bool wide = g.x.dtype == DType::f64;
    const auto compute = wide ? fe::DataType_t::DOUBLE : fe::DataType_t::FLOAT;
    graph.set_intermediate_data_type(compute).set_compute_data_type(compute);
    const Written written = add_operation(graph, g);
    write_as(written.tensor, *written.as, written.as->dtype, written.uid);
    return true;
}

/// Same numbers on every device, up to the order of summation (decisions.md#numerics, D3): no
/// operands taken in a narrower type, no sums in one, no transforms that trade accuracy for speed.
/// And the same in every run, unless the settings say otherwise: no atomic adds.
std::vector<fe::NumericalNote_t> Family::unwanted(const ConvGraph& g) {
    std::vector<fe::NumericalNote_t> notes = {
        fe::NumericalNote_t::DOWN_CONVERT_INPUTS, fe::NumericalNote_t::REDUCED_PRECISION_REDUCTION,
        fe::NumericalNote_t::WINOGRAD, fe::NumericalNote_t::FFT};
    if (g.bit_stable) notes.push_back(fe::NumericalNote_t::NONDETERMINISTIC);
    // Tensor Cores take f32 as TF32.
    if (g.x.dtype == DType::f32 && !g.tf32) notes.push_back(fe::NumericalNote_t::TENSOR_CORE);
    return notes;
}

VariantPack variant(const ConvGraph& g, const ConvPointers& p) {
    VariantPack pack = {{uid_x, argument(p.x)}, {uid_w, argument(p.w)}, {uid_y, argument(p.y)}};
    if (g.bias) pack.emplace(uid_bias, argument(p.bias));
    return pack;
}

}  // namespace
}  // namespace kernels::cuda::convolution

namespace kernels::cuda {
namespace {

template <class Family>
CudnnPlans<Family>& plans() {
    static auto* only = new CudnnPlans<Family>;  // never closed, as the session
    return *only;
}

}  // namespace

std::optional<std::size_t> attention_graph_workspace(const AttentionGraph& graph,
                                                     std::string* why) {
    return plans<attention::Family>().workspace(graph, why);
}

std::size_t attention_library_version() {
    cudnn_session();  // throws if the library is missing
    return fe::detail::get_backend_version();
}

std::size_t attention_scratch_limit() { return std::size_t{1} << 30; }

void attend(const AttentionGraph& graph, const AttentionPointers& pointers, void* workspace,
            Stream stream) {
    plans<attention::Family>().run(graph, attention::variant(graph, pointers), workspace, stream);
}

GraphExamination examine(const AttentionGraph& graph, const DescribedDevice& device) {
    return CudnnPlans<attention::Family>::examine(graph, device);
}

std::optional<std::size_t> convolution_workspace(const ConvGraph& graph, std::string* why) {
    return plans<convolution::Family>().workspace(graph, why);
}

std::optional<std::size_t> convolution_workspace_below(const ConvGraph& graph, std::size_t bytes) {
    return plans<convolution::Family>().workspace_below(graph, bytes);
}

std::vector<std::string> convolution_engines(const ConvGraph& graph) {
    return plans<convolution::Family>().engines(graph);
}

void forget_convolution(const ConvGraph& graph) { plans<convolution::Family>().forget(graph); }

std::string convolution_engine(const ConvGraph& graph) {
    return plans<convolution::Family>().engine_name(graph);
}

void convolve(const ConvGraph& graph, const ConvPointers& pointers, void* workspace,
              Stream stream) {
    plans<convolution::Family>().run(graph, convolution::variant(graph, pointers), workspace,
                                     stream);
}

GraphExamination examine(const ConvGraph& graph, const DescribedDevice& device) {
    return CudnnPlans<convolution::Family>::examine(graph, device);
}

}  // namespace kernels::cuda
