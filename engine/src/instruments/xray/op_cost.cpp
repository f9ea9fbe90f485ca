#include "instruments/xray/op_cost.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace engine {
namespace {

using Tensors = std::span<const Tensor>;
using Count = std::function<double(Tensors in, Tensors out)>;

double numel(const Tensor& t) {
    return t.defined() && !t.is_sparse() ? static_cast<double>(t.numel()) : 0;
}
double last(const Tensor& t) { return t.rank() > 0 ? static_cast<double>(t.shape().back()) : 1; }
double size_at(const Tensor& t, int dim) { return static_cast<double>(t.size(dim)); }

/// The cost of a product whose operand `a` has the summed dimension last.
template <std::size_t a>
double product(Tensors in, Tensors out) {
    return in.size() > a ? 2 * numel(out[0]) * last(in[a]) : 0;
}

/// A product of two matrices, either of which may lie transposed in memory, as in the gradient of
/// a layer's weights: the summed dimension is what both have beside the result's.
double matrix_product(Tensors in, Tensors out) {
    if (in.size() < 2 || numel(out[0]) == 0) return 0;
    return 2 * numel(out[0]) * std::round(std::sqrt(numel(in[0]) * numel(in[1]) / numel(out[0])));
}

/// Each output of a convolution sums over one filter; `weight`: (out, in / groups, taps...).
double convolution(Tensors in, Tensors out) {
    return 2 * numel(out[0]) * numel(in[1]) / std::max(1.0, size_at(in[1], 0));
}

/// Each input of a transposed convolution, and each output gradient of a plain one, is multiplied
/// with one filter of the weight (in, out / groups, taps...).
double transposed(Tensors in, Tensors) {
    return 2 * numel(in[0]) * numel(in[1]) / std::max(1.0, size_at(in[1], 0));
}

/// (dy, x) -> dw (out, in / groups, taps...): a multiply-add for each element of dy and tap.
double weight_gradient(Tensors in, Tensors out) {
    return 2 * numel(in[0]) * numel(out[0]) / std::max(1.0, size_at(out[0], 0));
}

/// Scores and weighted values of q (..., L, D), k (..., S, D), v (..., S, E).
double attention(Tensors in, Tensors) {
    if (in.size() < 3 || in[0].rank() < 2 || in[1].rank() < 2) return 0;
    const double keys = size_at(in[1], in[1].rank() - 2);
    const double queries = numel(in[0]) / std::max(1.0, last(in[0]));
    return 2 * queries * keys * (last(in[0]) + last(in[2]));
}

/// cuDNN's fused kernel: computes the scores again, and two products for each of the forward
/// pass's.
double attention_backward(Tensors in, Tensors out) {
    return in.size() < 4 ? 0 : 2.5 * attention(in.subspan(1), out);
}

/// (x, states..., weights and biases...): each row of x meets every matrix of the network once.
double recurrent(Tensors in, Tensors) {
    if (in.empty() || in[0].numel() == 0) return 0;
    const double rows = numel(in[0]) / std::max(1.0, last(in[0]));
    double weights = 0;
    for (const Tensor& each : in.subspan(1)) {
        if (each.defined() && each.rank() == 2) weights += numel(each);
    }
    return 2 * rows * weights;
}
/// (d_outputs, dh_n, dc_n, gx, h0, w_hh, ...): each row of gx meets the hidden weights once for the
/// states' gradient and once for the weights'.
double recurrent_layer_backward(Tensors in, Tensors) {
    if (in.size() < 6 || numel(in[3]) == 0) return 0;
    return 4 * numel(in[3]) / last(in[3]) * numel(in[5]);
}
double recurrent_backward(Tensors in, Tensors out) { return 2 * recurrent(in, out); }

double none(Tensors, Tensors) { return 0; }

const std::map<std::string, Count>& counts() {
    static const std::map<std::string, Count> table = {
        {"mm", matrix_product},
        {"bmm", product<0>},
        {"matmul", product<0>},
        {"mv", product<0>},
        {"dot", product<0>},
        {"vdot", product<0>},
        {"linear", product<0>},
        {"addmm", product<1>},
        {"baddbmm", product<1>},
        {"addmv", product<1>},
        {"conv1d", convolution},
        {"conv2d", convolution},
        {"conv3d", convolution},
        {"convolution", convolution},
        {"conv_transpose1d", transposed},
        {"conv_transpose2d", transposed},
        {"conv_transpose3d", transposed},
        {"conv2d_input_gradient", transposed},
        {"conv2d_weight_gradient", weight_gradient},
        {"scaled_dot_product_attention", attention},
        {"_scaled_dot_product_flash_attention", attention},
        {"attention_backward", attention_backward},
        {"lstm", recurrent},
        {"gru", recurrent},
        {"rnn_tanh", recurrent},
        {"rnn_relu", recurrent},
        {"recurrent_layer_backward", recurrent_layer_backward},
        {"recurrent_network_backward", recurrent_backward},
        {"to", none},
        {"to_device", none},
    };
    return table;
}

bool shares_memory(const Tensor& a, const Tensor& b) {
    return a.defined() && b.defined() && a.impl()->storage &&
           a.impl()->storage == b.impl()->storage;
}

bool is_view(Tensors inputs, Tensors outputs) {
    return std::ranges::all_of(outputs, [&](const Tensor& out) {
        return std::ranges::any_of(inputs,
                                   [&](const Tensor& in) { return shares_memory(in, out); });
    });
}

std::int64_t bytes_of(Tensors tensors) {
    std::int64_t bytes = 0;
    for (const Tensor& each : tensors) {
        if (each.defined() && !each.is_sparse()) bytes += static_cast<std::int64_t>(each.bytes());
    }
    return bytes;
}

}  // namespace

double flops_of(const std::string& op, Tensors inputs, Tensors outputs) {
    if (outputs.empty() || is_view(inputs, outputs)) return 0;
    if (const auto found = counts().find(op); found != counts().end())
        return found->second(inputs, outputs);
    double most = 0;
    for (const Tensor& each : inputs) most = std::max(most, numel(each));
    for (const Tensor& each : outputs) most = std::max(most, numel(each));
    return most;
}

Traffic count_traffic(Tensors inputs, Tensors outputs) {
    if (outputs.empty() || is_view(inputs, outputs)) return {};
    return {bytes_of(inputs), bytes_of(outputs)};
}

}  // namespace engine
