#include <algorithm>
#include <cmath>
#include <memory>

#include "models/layer_run.h"
#include "nn/attention.h"
#include "nn/recurrent.h"
#include "ops/attention/attention.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/binary.h"
#include "ops/recurrent/recurrent.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

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

/// The types of last_state().
ValueType last_state_type(const LayerTypes& layer, const ValueType& states, bool bidirectional) {
    const ValueType last = layer.chain(states, {&narrow_op, &reshape_op});
    if (!bidirectional) return last;
    return layer.call(cat_op, {last, layer.chain(states, {&narrow_op, &reshape_op})});
}

LayerTypeFunction recurrent_types(const Op& op) {
    return [&op](const LayerTypes& layer) {
        ValueTypes out{layer.call_with_weights(op)};
        layer.pass.module = layer.pass.around;
        for (std::size_t i = 1; i < layer.used_outputs; ++i) out.push_back(last_state_type(layer, out.front(), layer.arguments().flag("bidirectional")));
        return out;
    };
}

LayerRun recurs(RecurrentKind kind, const Op& op) {
    return {.make = [kind](const LayerSetup& setup) {
                return recurrent_function(recurrent_layer(setup, kind), setup.first_state, setup.used_outputs);
            },
            .types = recurrent_types(op),
            .low = LayerRun::Low::all,
            .casts_first = true,
            .opens_module = true,
            .draws = true};
}

bool is_masked(const GraphLayer& layer) { return layer.arguments().given("mask"); }
/// Queries, keys and values are one value.
bool takes_one_value(const GraphLayer& layer) { return layer.node.inputs.size() == (is_masked(layer) ? 2 : 1); }

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
    return gives_one([layer, masked = is_masked(setup), one = takes_one_value(setup), causal = setup.arguments().flag("causal")](const TensorList& in, LayerPass& pass) {
        MultiheadAttention::Call call{.mask = masked ? in.back() : Tensor(), .is_causal = causal};
        const Tensor &query = in.front(), &key = one ? in.front() : in[1];
        if (pass.training && layer.dropout > 0) {
            const LayerDraw drawn = pass.draw(query.size(0) * layer.num_heads * query.size(1) * key.size(1));
            call.training = true;
            call.random = drawn.source;
            call.random_offset = drawn.offset;
        }
        return one ? layer(query, call) : layer(query, key, in[2], call);
    });
}

/// (N, T, width) -> (N, heads, T, width / heads)
Tensor in_heads(const Tensor& x, std::int64_t heads) {
    return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}

/// q, k and v in heads, attention, and its heads side by side.
ValueType attention_types(const LayerTypes& layer, const ValueType& q, const ValueType& k, const ValueType& v) {
    const auto in_heads_type = [&](const ValueType& x) { return layer.chain(x, {&reshape_op, &permute_op}); };
    const ValueType queries = in_heads_type(q), keys = in_heads_type(k), values = in_heads_type(v);
    ValueType attended = is_masked(layer) ? layer.call(scaled_dot_product_attention_op, {queries, keys, values, layer.in.back()})
                                          : layer.call(scaled_dot_product_attention_op, {queries, keys, values});
    layer.pass.set_elements(attended, q.elements);
    return layer.chain(attended, {&permute_op, &reshape_op});
}

ValueTypes multihead_attention_types(const LayerTypes& layer) {
    const ValueType in_weight = layer.weights[0], in_bias = layer.weights[1];
    ValueTypes projected;
    if (takes_one_value(layer)) {
        ValueType all = layer.call(linear_op, {layer.in.front(), in_weight, in_bias});
        layer.pass.set_elements(all, 3 * layer.in.front().elements);
        for (int part = 0; part < 3; ++part) {
            projected.push_back(layer.call(narrow_op, {all}));
            layer.pass.set_elements(projected.back(), layer.in.front().elements);
        }
    } else {
        for (const ValueType& each : layer.in.first(3)) {
            const ValueType weight = layer.call(narrow_op, {in_weight}), bias = layer.call(narrow_op, {in_bias});
            projected.push_back(layer.call(linear_op, {each, weight, bias}));
        }
    }
    const ValueType attended = attention_types(layer, projected[0], projected[1], projected[2]);
    layer.pass.module += ".out_proj";
    return {layer.call(linear_op, {attended, layer.weights[2], layer.weights[3]})};
}

LayerFunction make_attention(const LayerSetup& setup) {
    return gives_one([masked = is_masked(setup), one = takes_one_value(setup), heads = setup.arguments().whole("num_heads"), causal = setup.arguments().flag("causal")](const TensorList& in) {
        const Tensor &k = one ? in.front() : in[1], &v = one ? in.front() : in[2];
        const Tensor y = scaled_dot_product_attention(in_heads(in.front(), heads), in_heads(k, heads), in_heads(v, heads), masked ? in.back() : Tensor(), {.is_causal = causal});
        return flatten(transpose(y, 1, 2), 2, 3);
    });
}

ValueTypes split_attention_types(const LayerTypes& layer) {
    const bool one = takes_one_value(layer);
    return {attention_types(layer, layer.in.front(), layer.in[one ? 0 : 1], layer.in[one ? 0 : 2])};
}

/// Cosines and sines of the angles, T x pairs, for the longest T so far: base^(-2i / features) a place for pair i.
class TurningAngles {
public:
    TurningAngles(std::int64_t pairs, double base, Device device) : pairs_(pairs), base_(base), device_(device) {}

    /// Makes those of more places.
    void grow(std::int64_t count) {
        if (cosines_.defined() && cosines_.size(0) >= count) return;
        std::vector<double> cosines, sines;
        for (std::int64_t place = 0; place < count; ++place) {
            for (std::int64_t pair = 0; pair < pairs_; ++pair) {
                const double angle = static_cast<double>(place) * std::pow(base_, -static_cast<double>(pair) / static_cast<double>(pairs_));
                cosines.push_back(std::cos(angle));
                sines.push_back(std::sin(angle));
            }
        }
        cosines_ = Tensor::of(cosines, {count, pairs_}, DType::f32, device_);
        sines_ = Tensor::of(sines, {count, pairs_}, DType::f32, device_);
    }
    /// Rows for x (N, T, ..., features), in its type.
    Tensor cosines(const Tensor& x) { return fitting(cosines_, x); }
    Tensor sines(const Tensor& x) { return fitting(sines_, x); }

private:
    Tensor fitting(const Tensor& table, const Tensor& x) const {
        Shape shape{x.size(1)};
        Strides strides{pairs_};
        for (int dim = 2; dim < x.rank(); ++dim) {
            const bool last = dim + 1 == x.rank();
            shape.push_back(last ? pairs_ : 1);
            strides.push_back(1);
        }
        return to(view_of(table, shape, strides, 0), x.dtype());
    }

    std::int64_t pairs_;
    double base_;
    Device device_;
    Tensor cosines_{}, sines_{};
};

/// As in the LLaMA models: feature i and feature i + features / 2 are a pair, and cosines and sines have the type of x.
LayerFunction make_rotary(const LayerSetup& setup) {
    const std::int64_t pairs = setup.input().sizes.back().number / 2;
    const auto angles = std::make_shared<TurningAngles>(pairs, setup.arguments().number("base"), setup.device);
    // Made here, as a captured step cannot copy from the host. A text that is longer runs outside of one.
    constexpr std::int64_t text = 1024, most = std::int64_t{1} << 22;
    const Size& length = setup.input().sizes[1];
    const std::int64_t places = length.is_number() ? length.number : text;
    if (places <= most / pairs) angles->grow(places);
    return gives_one([pairs, angles](const Tensor& x) {
        angles->grow(x.size(1));
        const Tensor c = angles->cosines(x), s = angles->sines(x);
        const Tensor a = narrow(x, -1, 0, pairs), b = narrow(x, -1, pairs, pairs);
        const Tensor ac = mul(a, c), bs = mul(b, s), first = sub(ac, bs);
        const Tensor bc = mul(b, c), as = mul(a, s), second = add(bc, as);
        return cat({first, second}, -1);
    });
}

ValueTypes rotary_types(const LayerTypes& layer) {
    ValueType factor;
    if (layer.in.front().type != factor.type)
        for (int table = 0; table < 2; ++table) layer.call(cast_op, {factor});
    factor.type = layer.in.front().type;
    ValueType a = layer.call(narrow_op, {layer.in.front()}), b = layer.call(narrow_op, {layer.in.front()});
    for (ValueType* each : {&a, &b}) layer.pass.set_elements(*each, layer.in.front().elements / 2);
    const auto half = [&](const Op& op, const ValueType& x, const ValueType& y) {
        const ValueType left = layer.call(mul_op, {x, factor}), right = layer.call(mul_op, {y, factor});
        return layer.call(op, {left, right});
    };
    const ValueType first = half(sub_op, a, b), second = half(add_op, b, a);
    return {layer.call(cat_op, {first, second})};
}

}  // namespace

LayerRun run_RNN() { return recurs(RecurrentKind::rnn_tanh, rnn_tanh_op); }
LayerRun run_GRU() { return recurs(RecurrentKind::gru, gru_op); }
LayerRun run_LSTM() { return recurs(RecurrentKind::lstm, lstm_op); }
LayerRun run_MultiheadAttention() {
    return {.make = make_multihead_attention, .types = multihead_attention_types, .low = LayerRun::Low::weights, .casts_first = true, .opens_module = true, .draws = true};
}
LayerRun run_Attention() { return {.make = make_attention, .types = split_attention_types, .casts_first = true}; }
LayerRun run_Rotary() { return {.make = make_rotary, .types = rotary_types}; }

}  // namespace engine::network
