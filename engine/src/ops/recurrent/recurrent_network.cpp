#include "ops/recurrent/recurrent_network.h"

#include <memory>
#include <utility>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "autograd/second_derivative.h"
#include "kernels/plan_choice.h"
#include "ops/recurrent/weight_block.h"
#include "tensor/layout.h"

namespace engine {
namespace {

using kernels::RecurrentCell;
using kernels::RecurrentNetwork;
using kernels::RecurrentSpaces;

constexpr Op network_op("recurrent_network(x, h0, c0?, params[])",
                        "Runs inside a listed op, which has cast its arguments.");
constexpr Op network_backward_op(
    "recurrent_network_backward(dy?, dh_n?, dc_n?, x, h0, c0?, params[])",
    "Its inputs have the forward op's types.");

/// Places among the inputs.
constexpr std::size_t at_x = 0, at_h0 = 1, at_c0 = 2, at_params = 3;

/// Dense rows that begin where the library may load 16 bytes at a time.
Tensor operand(const Tensor& t) {
    if (!t.defined()) return t;
    const Tensor rows = in_layout(t.detach(), Layout::contiguous);
    if (reinterpret_cast<std::uintptr_t>(rows.data()) % 16 == 0) return rows;
    const Tensor copy = Tensor::empty(rows.shape(), rows.dtype(), rows.device());
    copy_into(copy, rows);
    return copy;
}
TensorList operands(const TensorList& inputs) {
    TensorList out;
    for (const auto& t : inputs) out.push_back(operand(t));
    return out;
}
void* data_or_null(const Tensor& t) { return t.defined() ? t.data() : nullptr; }

std::span<const Tensor> params_of(const TensorList& in) { return std::span(in).subspan(at_params); }

Tensor bytes(std::size_t count, const Device& device) {
    return Tensor::empty({static_cast<std::int64_t>(count)}, DType::u8, device);
}

/// Values kept between the two passes.
struct Kept {
    Tensor y, weights, reserve;
};

/// Parameters that a forward pass copies into the weights' block: nothing if the parameters lie
/// there.
std::vector<const void*> params_to_pack(const TensorList& in, const Tensor& block) {
    std::vector<const void*> out;
    if (in[at_params].impl()->storage.get() == block.impl()->storage.get()) return out;
    for (const Tensor& each : params_of(in)) out.push_back(each.data());
    return out;
}

/// {y, h_n, c_n}, or nothing if the library refuses; `kept` is written.
TensorList run_forward(const RecurrentNetwork& n, const TensorList& in, Kept& kept) {
    const Tensor& h0 = in[at_h0];
    const auto like_state = [&] { return Tensor::empty(h0.shape(), h0.dtype(), h0.device()); };
    TensorList results{kept.y, like_state()};
    if (in[at_c0].defined()) results.push_back(like_state());
    const auto params = params_to_pack(in, kept.weights);
    const bool ran = kernels::cuda::recurrent_network_forward(
        n,
        {.x = in[at_x].data(),
         .h0 = h0.data(),
         .c0 = data_or_null(in[at_c0]),
         .params = params,
         .y = kept.y.data(),
         .h_n = results[1].data(),
         .c_n = results.size() > 2 ? results[2].data() : nullptr,
         .weights = kept.weights.data(),
         .reserve = data_or_null(kept.reserve)},
        current_stream());
    return ran ? results : TensorList{};
}

Kept memory_for(const RecurrentNetwork& n, const TensorList& in, const RecurrentSpaces& spaces) {
    const Tensor& x = in[at_x];
    const Shape rows{n.steps * n.batch, n.hidden * n.directions()};
    const bool in_block = lie_in_block(params_of(in), spaces);
    return {Tensor::empty(rows, x.dtype(), x.device()),
            in_block ? block_of(in[at_params]) : bytes(spaces.weights, x.device()),
            n.training ? bytes(spaces.reserve, x.device()) : Tensor()};
}

using Places = std::vector<std::size_t>;

/// Memory for the gradients by the inputs: those by the parameters at their places in `block`, or,
/// without places, apart.
TensorList gradients_in(const Tensor& block, const Places& places, const TensorList& in) {
    TensorList out;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const Tensor& t = in[i];
        if (!t.defined())
            out.emplace_back();
        else if (i >= at_params && !places.empty())
            out.push_back(part_of(block, t, places[i - at_params]));
        else
            out.push_back(Tensor::empty(t.shape(), t.dtype(), t.device()));
    }
    return out;
}

/// Gradients by all defined inputs, in their order; nothing if the library fails. `spent`: an
/// earlier backward pass has overwritten the reserve, so the forward pass runs again. `places`: of
/// the parameters' gradients in the library's block, to be left there; none: they are copied out.
TensorList run_backward(const RecurrentNetwork& n, std::span<const Tensor> grads,
                        const TensorList& in, Kept kept, bool spent, const Places& places) {
    const DeviceScope here(in[at_x].device());
    if (spent) {
        kept.y = Tensor::empty(kept.y.shape(), kept.y.dtype(), kept.y.device());
        if (run_forward(n, in, kept).empty()) return {};
    }
    const Tensor& x = in[at_x];
    const Tensor d_weights = bytes(kept.weights.bytes(), x.device());
    TensorList out = gradients_in(d_weights, places, in);
    std::vector<void*> d_params;
    for (const Tensor& each : params_of(out)) {
        if (places.empty()) d_params.push_back(each.data());
    }
    const Tensor dy = grads[0].defined() ? operand(grads[0])
                                         : Tensor::zeros(kept.y.shape(), x.dtype(), x.device());
    const Tensor dh_n = operand(grads[1]), dc_n = operand(grads[2]);
    const bool ran = kernels::cuda::recurrent_network_backward(n,
                                                               {.x = x.data(),
                                                                .h0 = in[at_h0].data(),
                                                                .c0 = data_or_null(in[at_c0]),
                                                                .y = kept.y.data(),
                                                                .dy = dy.data(),
                                                                .dh_n = data_or_null(dh_n),
                                                                .dc_n = data_or_null(dc_n),
                                                                .weights = kept.weights.data(),
                                                                .reserve = kept.reserve.data(),
                                                                .dx = out[at_x].data(),
                                                                .dh0 = out[at_h0].data(),
                                                                .dc0 = data_or_null(out[at_c0]),
                                                                .d_weights = d_weights.data(),
                                                                .d_params = d_params},
                                                               current_stream());
    if (!ran) return {};
    std::erase_if(out, [](const Tensor& t) { return !t.defined(); });
    return out;
}

/// The backward pass, layer by layer.
TensorList backward_by_layers(std::span<const Tensor> grads, const TensorList& in,
                              const RecurrentByLayers& by_layers) {
    const GradMode recorded(true);
    TensorList leaves, there;
    for (const auto& t : in) {
        leaves.push_back(t.defined() ? t.detach().set_requires_grad(true) : t);
        if (t.defined()) there.push_back(leaves.back());
    }
    const TensorList outputs = by_layers(leaves);
    TensorList from, with;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!grads[i].defined()) continue;
        from.push_back(outputs[i]);
        with.push_back(grads[i].detach());
    }
    TensorList found = grad(from, there, with, {}, true);
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i].defined())
            found[i] = Tensor::zeros(there[i].shape(), there[i].dtype(), there[i].device());
    }
    return found;
}

/// The backward pass's context, besides its inputs.
struct Backward {
    RecurrentNetwork network;
    Places places;  // of the parameters in the library's block
    RecurrentByLayers by_layers;
    std::shared_ptr<bool> spent = std::make_shared<bool>(false);  // shared by the closure's copies
};

/// Whether the parameters' gradients may lie in one block: each is taken, so that none keeps the
/// memory of others, and no graph saves them, where a write to one would spoil the others.
bool may_share_a_block(const Saved& saved, int inputs) {
    if (grad_enabled()) return false;
    for (int i = static_cast<int>(at_params); i < inputs; ++i) {
        if (!saved.needs_gradient(i)) return false;
    }
    return true;
}

/// An op of its own, so that it can be differentiated. `places`: as in run_backward().
TensorList network_backward(const Backward& b, std::span<const Tensor> grads,
                            const TensorList& inputs, const Kept& kept, const Places& places) {
    TensorList found;
    {
        const GradMode off(false);
        const NoAutocast inside(inputs[at_x].device().kind);
        // Before the call: one that fails half way has spoilt the reserve as well.
        const bool spent = std::exchange(*b.spent, true);
        found = run_backward(b.network, grads, operands(inputs), kept, spent, places);
        if (found.empty()) found = backward_by_layers(grads, inputs, b.by_layers);
    }
    TensorList all(grads.begin(), grads.end());
    all.resize(3);
    all.insert(all.end(), inputs.begin(), inputs.end());
    std::vector<Save> saves;
    for (const auto& t : all) saves.push_back(save(t));
    const int count = static_cast<int>(all.size());
    return record_outputs(
        network_backward_op, all, found, saves,
        [by_layers = b.by_layers, count](std::span<const Tensor> seconds, const Saved& saved) {
            return detail::second_derivative(seconds, saved, count, 3, by_layers);
        });
}

/// Excludes relu: cuDNN does not document NaN propagation there, and our fallback keeps a NaN, so
/// that an overflow is found.
bool taken(const RecurrentNetwork& n, const Tensor& x) {
    return x.device().kind == Device::Kind::cuda && n.cell != RecurrentCell::rnn_relu &&
           n.input > 0 && n.hidden > 0;
}

}  // namespace

std::optional<TensorList> recurrent_network(RecurrentNetwork n, const TensorList& inputs,
                                            const RecurrentByLayers& by_layers) {
    const Tensor& x = inputs[at_x];
    if (!taken(n, x)) return std::nullopt;
    const DeviceScope here(x.device());
    n.tf32 = current_stream().tf32 && n.dtype == DType::f32;
    n.training = grad_enabled() && any_requires_grad(inputs);
    n.measured = kernels::plan_choice().measured;
    const auto spaces = kernels::cuda::recurrent_spaces(n);
    if (!spaces) return std::nullopt;
    const TensorList read = operands(inputs);
    Kept kept = memory_for(n, read, *spaces);
    const TensorList results = run_forward(n, read, kept);
    if (results.empty()) return std::nullopt;
    std::vector<Save> saves;
    for (const auto& t : inputs) saves.push_back(save(t));
    saves.push_back(save_output(results[0]));
    saves.push_back(save(kept.weights));
    saves.push_back(save(kept.reserve));
    const int count = static_cast<int>(inputs.size());
    return record_outputs(
        network_op, inputs, results, saves,
        [b = Backward{n, spaces->places, by_layers}, count](std::span<const Tensor> grads,
                                                            const Saved& saved) {
            TensorList in;
            for (int i = 0; i < count; ++i) in.push_back(saved[i]);
            const TensorList three{grads[0], grads[1], grads.size() > 2 ? grads[2] : Tensor()};
            TensorList found = network_backward(
                b, three, in, {saved[count].detach(), saved[count + 1], saved[count + 2]},
                may_share_a_block(saved, count) ? b.places : Places{});
            if (!in[at_c0].defined()) found.insert(found.begin() + at_c0, Tensor());
            return found;
        });
}

}  // namespace engine
