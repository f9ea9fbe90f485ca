#include "models/weight_layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ops/recurrent/weight_block.h"
#include "tensor/layout.h"
#include "tensor/memory/memory.h"

namespace engine {
namespace {

using kernels::RecurrentCell;
using kernels::RecurrentNetwork;
using TensorsByName = std::map<std::string, Tensor, std::less<>>;

constexpr std::string_view first_weight = "weight_ih_l0";

/// A network and its weights in the order of kernels/recurrent_network.h.
struct Weights {
    RecurrentNetwork network;
    TensorList tensors;
};

std::optional<RecurrentCell> cell_of(std::int64_t gates) {
    switch (gates) {
        case 4:
            return RecurrentCell::lstm;
        case 3:
            return RecurrentCell::gru;
        case 1:
            return RecurrentCell::rnn_tanh;  // or relu, which keeps its weights alike
        default:
            return std::nullopt;
    }
}

/// Collects the weights of the network whose names begin with `prefix` (nn/recurrent.h).
class Collector {
public:
    Collector(const TensorsByName& all, std::string prefix)
        : all_(all), prefix_(std::move(prefix)) {}

    /// Nothing if some are missing, or are not what a network of that form has.
    std::optional<Weights> weights() {
        const Tensor* const w_ih = find("weight_ih", 0, false);
        const Tensor* const w_hh = find("weight_hh", 0, false);
        if (!w_ih || !w_hh || w_ih->rank() != 2 || w_hh->rank() != 2 || w_hh->size(1) == 0)
            return std::nullopt;
        RecurrentNetwork& n = out_.network;
        n.steps = n.batch = 1;  // of no account here
        n.input = w_ih->size(1);
        n.hidden = w_hh->size(1);
        n.bidirectional = find("weight_ih", 0, true) != nullptr;
        n.biases = find("bias_ih", 0, false) != nullptr;
        rows_ = w_hh->size(0);
        const auto cell = cell_of(rows_ / n.hidden);
        if (!cell || rows_ % n.hidden != 0) return std::nullopt;
        n.cell = *cell;
        for (n.layers = 0; find("weight_ih", n.layers, false) != nullptr; ++n.layers) {
            if (!add_layer(n.layers)) return std::nullopt;
        }
        return std::move(out_);
    }

private:
    const Tensor* find(const char* what, std::int64_t layer, bool back) const {
        const auto found =
            all_.find(prefix_ + what + "_l" + std::to_string(layer) + (back ? "_reverse" : ""));
        return found == all_.end() ? nullptr : &found->second;
    }
    bool add(const Tensor* tensor, const Shape& shape) {
        if (!tensor || !(tensor->shape() == shape)) return false;
        out_.tensors.push_back(*tensor);
        return true;
    }
    bool add_layer(std::int64_t layer) {
        const RecurrentNetwork& n = out_.network;
        const std::int64_t in = layer == 0 ? n.input : n.hidden * n.directions();
        for (const bool back : {false, true}) {
            if (back && !n.bidirectional) break;
            if (!add(find("weight_ih", layer, back), {rows_, in}) ||
                !add(find("weight_hh", layer, back), {rows_, n.hidden}))
                return false;
            if (n.biases && (!add(find("bias_ih", layer, back), {rows_}) ||
                             !add(find("bias_hh", layer, back), {rows_})))
                return false;
        }
        return true;
    }

    const TensorsByName& all_;
    std::string prefix_;
    std::int64_t rows_ = 0;
    Weights out_;
};

bool have_low_copies(const TensorList& tensors) {
    return std::ranges::all_of(tensors,
                               [](const Tensor& each) { return each.impl()->low_copy != nullptr; });
}

bool are_alike(const TensorList& tensors) {
    const Tensor& first = tensors.front();
    return std::ranges::all_of(tensors, [&](const Tensor& each) {
        return each.dtype() == first.dtype() && each.device() == first.device() &&
               each.is_contiguous();
    });
}

void lay_out(Weights weights) {
    const bool low = have_low_copies(weights.tensors);
    if (low) {
        for (Tensor& each : weights.tensors) each = each.impl()->low_copy->tensor;
    }
    if (!are_alike(weights.tensors)) return;
    const UseScope use(low ? MemoryUse::cast_cache : MemoryUse::weights);
    weights.network.dtype = weights.tensors.front().dtype();
    move_into_block(weights.network, weights.tensors);
}

bool is_on_gpu(const Tensor& tensor) { return tensor.device().kind == Device::Kind::cuda; }

}  // namespace

void lay_out_weights(const Model& model) {
    const GradMode off(false);
    const UseScope use(MemoryUse::weights);
    for (const auto& parameter : model.parameters()) {
        const Tensor& tensor = parameter.tensor;
        const bool on_gpu = tensor.device().kind == Device::Kind::cuda;
        if (!on_gpu || tensor.rank() != 4 || tensor.is_channels_last()) continue;
        const Tensor moved = in_layout(tensor.detach(), Layout::channels_last);
        // The layers hold the same TensorImpl, so the new storage is theirs too.
        tensor.impl()->storage = moved.impl()->storage;
        tensor.impl()->strides = moved.strides();
        tensor.impl()->offset = 0;
    }
}

void lay_out_recurrent_weights(const std::vector<Parameter>& parameters) {
    TensorsByName all;
    for (const Parameter& each : parameters) {
        if (is_on_gpu(each.tensor)) all.emplace(each.name, each.tensor);
    }
    for (const auto& [name, tensor] : all) {
        if (!name.ends_with(first_weight)) continue;
        Collector collector(all, name.substr(0, name.size() - first_weight.size()));
        if (auto weights = collector.weights()) lay_out(std::move(*weights));
    }
}

}  // namespace engine
