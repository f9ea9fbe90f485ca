#include "cuda/conv2d_graph.h"

#include <functional>

#include "cuda/autotuner.h"
#include "cuda/lru_cache.h"
#include "kernels/cuda_device.h"
#include "kernels/plan_choice.h"

namespace kernels::cuda {
namespace {

/// (a, b, c, d) with b innermost: NHWC of images, (K, R, S, C) of weights.
ConvTensor second_innermost(DType dtype, std::int64_t a, std::int64_t b, std::int64_t c,
                            std::int64_t d) {
    return {dtype, {a, b, c, d}, {b * c * d, 1, b * d, b}};
}

const char* name_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return "f64";
        case DType::f16:
            return "f16";
        case DType::bf16:
            return "bf16";
        default:
            return "f32";
    }
}

void mix_in(std::size_t& hash, const ConvTensor& tensor) {
    mix(hash, static_cast<std::int64_t>(tensor.dtype));
    for (const std::int64_t dim : tensor.dims) mix(hash, dim);
    for (const std::int64_t stride : tensor.strides) mix(hash, stride);
}

}  // namespace

std::size_t ConvGraphHash::operator()(const ConvGraph& graph) const noexcept {
    std::size_t hash = hash_start;
    mix(hash, static_cast<std::int64_t>(graph.operation));
    for (const ConvTensor* tensor : {&graph.x, &graph.w, &graph.y}) mix_in(hash, *tensor);
    mix(hash, graph.bias ? 1 : 0);
    for (const auto& pair : {graph.padding, graph.stride, graph.dilation}) {
        mix(hash, pair[0]);
        mix(hash, pair[1]);
    }
    mix(hash, graph.tf32 ? 1 : 0);
    mix(hash, graph.bit_stable ? 1 : 0);
    mix(hash, graph.device);
    mix(hash, static_cast<std::int64_t>(std::hash<std::string>()(graph.engine)));
    return hash;
}

std::string text(const ConvGraph& g) {
    constexpr const char* names[] = {"forward", "data gradient", "weight gradient"};
    std::string out = std::string("convolution ") + names[static_cast<int>(g.operation)];
    const auto add = [&](const char* name, const ConvTensor& tensor) {
        out += std::string(", ") + name + " " + name_of(tensor.dtype) + " " + text_of(tensor.dims) +
               " by " + text_of(tensor.strides);
    };
    add("x", g.x);
    add("w", g.w);
    add("y", g.y);
    if (g.bias) add("bias", *g.bias);
    out += ", padding " + text_of(g.padding) + ", stride " + text_of(g.stride) + ", dilation " +
           text_of(g.dilation);
    if (g.tf32) out += ", tf32";
    if (!g.bit_stable) out += ", any order of sums";
    return out;
}

ConvGraph describe(ConvOperation operation, const Conv2dShape& s, DType dtype, bool bias,
                   bool tf32) {
    ConvGraph graph;
    graph.operation = operation;
    graph.x = second_innermost(dtype, s.n, s.c, s.h, s.w);
    graph.w = second_innermost(dtype, s.k, s.c / s.groups, s.r, s.s);
    graph.y = second_innermost(dtype, s.n, s.k, s.oh(), s.ow());
    if (bias) graph.bias = second_innermost(dtype, 1, s.k, 1, 1);
    graph.padding = {s.pad_h, s.pad_w};
    graph.stride = {s.stride_h, s.stride_w};
    graph.dilation = {s.dilation_h, s.dilation_w};
    // One plan for both where it makes no difference.
    graph.tf32 = tf32 && dtype == DType::f32;
    graph.bit_stable = plan_choice().bit_stable;
    graph.device = current_device();
    return graph;
}

}  // namespace kernels::cuda
