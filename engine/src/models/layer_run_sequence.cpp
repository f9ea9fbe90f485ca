#include <algorithm>

#include "models/layer_run.h"
#include "nn/attention.h"
#include "nn/recurrent.h"
#include "ops/attention/attention.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"

/// Recurrent layers and attention: sequences are N x T x features.
namespace engine::network {
namespace {

Recurrent recurrent_layer(const LayerSetup& setup, RecurrentKind kind) {
    const LayerArguments& in = setup.arguments();
    Recurrent layer;
    layer.module = setup.module();
    layer.kind = kind;
    layer.sizes = {.in = setup.input().sizes[2].number,
                   .hidden = in.whole("hidden_size"),
                   .num_layers = in.whole("num_layers"),
                   .bidirectional = in.flag("bidirectional"),
                   .has_biases = in.flag("bias"),
                   .batch_first = true,
                   .dropout = in.number("dropout")};
    layer.params = setup.parameters();
    return layer;
}

/// The last layer's state (layers * directions, N, F) with its directions side by side, N x F.
Tensor last_state(const Tensor& states, bool bidirectional) {
    if (!bidirectional) return select(states, 0, -1);
    return cat({select(states, 0, -2), select(states, 0, -1)}, 1);
}

/// Gives the first `read` of the sequence, the last hidden and the last cell state. `carried`: the
/// place of its state in LayerPass::state.
LayerFunction recurrent_function(const Recurrent& layer, std::optional<std::size_t> carried, std::size_t read) {
    return [layer, carried, read](TensorList&& inputs, LayerPass& pass) {
        const Tensor& x = inputs.front();
        const std::size_t states = layer.kind == RecurrentKind::lstm ? 2 : 1;
        RecurrentCall call{.training = pass.training};
        if (carried && !pass.state.empty())
            for (std::size_t i = 0; i < states; ++i) call.hx.push_back(to(pass.state[*carried + i], x.dtype()));
        const Recurrent::Sizes& sizes = layer.sizes;
        const std::int64_t directions = sizes.bidirectional ? 2 : 1;
        if (pass.training && sizes.dropout > 0) {
            const LayerDraw drawn = pass.draw((sizes.num_layers - 1) * x.size(0) * x.size(1) * sizes.hidden * directions);
            call.random = drawn.source;
            call.random_offset = drawn.offset;
        }
        const TensorList found = layer(x, call);
        if (carried) {
            pass.next_state.resize(std::max(pass.next_state.size(), *carried + states));
            for (std::size_t i = 0; i < states; ++i) pass.next_state[*carried + i] = found[1 + i];
        }
        TensorList out{found.front()};
        for (std::size_t i = 1; i < read; ++i) out.push_back(last_state(found[i], sizes.bidirectional));
        return out;
    };
}

LayerRun recurs(RecurrentKind kind) {
    return {.make = [kind](const LayerSetup& setup) {
                return recurrent_function(recurrent_layer(setup, kind), setup.first_state, setup.used_outputs);
            },
            .low = LayerRun::Low::all,
            .casts_first = true,
            .opens_module = true,
            .draws = true};
}

LayerFunction make_multihead_attention(const LayerSetup& setup) {
    MultiheadAttention layer;
    layer.module = setup.module();
    layer.out_module = ModuleName(setup.node.module + ".out_proj");
    layer.num_heads = setup.arguments().whole("num_heads");
    layer.dropout = setup.arguments().number("dropout");
    layer.in_proj_weight = setup.parameter(0);
    layer.in_proj_bias = setup.parameter(1);
    layer.out_weight = setup.parameter(2);
    layer.out_bias = setup.parameter(3);
    return gives_one([layer, causal = setup.arguments().flag("causal")](const TensorList& in, LayerPass& pass) {
        MultiheadAttention::Call call{.is_causal = causal};
        const Tensor &query = in.front(), &key = in.size() == 1 ? in.front() : in[1];
        if (pass.training && layer.dropout > 0) {
            const LayerDraw drawn = pass.draw(query.size(0) * layer.num_heads * query.size(1) * key.size(1));
            call.training = true;
            call.random = drawn.source;
            call.random_offset = drawn.offset;
        }
        return in.size() == 1 ? layer(query, call) : layer(query, key, in[2], call);
    });
}

/// (N, T, width) -> (N, heads, T, width / heads)
Tensor in_heads(const Tensor& x, std::int64_t heads) {
    return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}

LayerFunction make_attention(const LayerSetup& setup) {
    return gives_one([heads = setup.arguments().whole("num_heads"), causal = setup.arguments().flag("causal")](const TensorList& in) {
        const Tensor &k = in.size() == 1 ? in.front() : in[1], &v = in.size() == 1 ? in.front() : in[2];
        const Tensor y = scaled_dot_product_attention(in_heads(in.front(), heads), in_heads(k, heads), in_heads(v, heads), {}, {.is_causal = causal});
        return flatten(transpose(y, 1, 2), 2, 3);
    });
}

}  // namespace

LayerRun run_RNN() { return recurs(RecurrentKind::rnn_tanh); }
LayerRun run_GRU() { return recurs(RecurrentKind::gru); }
LayerRun run_LSTM() { return recurs(RecurrentKind::lstm); }
LayerRun run_MultiheadAttention() {
    return {.make = make_multihead_attention, .low = LayerRun::Low::weights, .casts_first = true, .opens_module = true, .draws = true};
}
LayerRun run_Attention() { return {.make = make_attention, .casts_first = true}; }

}  // namespace engine::network
