#pragma once

#include <algorithm>

#include "cuda/conv2d_graph.h"
#include "cuda/cudnn_plans.h"

/// Convolutions as graphs of cuDNN's. Part of cudnn_plans.cpp.
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
    static std::int64_t most_workspace(const DeviceInfo& device) {
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
