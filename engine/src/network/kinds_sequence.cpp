#include <cmath>

#include "network/kind_forms.h"

/// Recurrent layers and attention: sequences are N x T x features.
namespace engine::network {
namespace {

/// Parameters in PyTorch's order: of each layer, of each direction.
double recurrent_weights(LayerCall& call, std::int64_t gates) {
    const std::int64_t hidden = call.arguments.whole("hidden_size");
    const int directions = call.arguments.flag("bidirectional") ? 2 : 1;
    const InitialRule initial = uniform_by_fan(static_cast<double>(hidden));
    const Size rows = number_size(gates * hidden);
    std::int64_t features = call.number_at(2);
    double weights = 0;
    for (std::int64_t layer = 0; layer < call.arguments.whole("num_layers"); ++layer) {
        for (int direction = 0; direction < directions; ++direction) {
            const std::string end = "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
            call.parameter("weight_ih" + end, {rows, number_size(features)}, initial);
            call.parameter("weight_hh" + end, {rows, number_size(hidden)}, initial);
            weights += static_cast<double>(rows.number) * static_cast<double>(features + hidden);
            if (call.arguments.flag("bias")) {
                call.parameter("bias_ih" + end, {rows}, initial);
                call.parameter("bias_hh" + end, {rows}, initial);
            }
        }
        features = hidden * directions;
    }
    return weights;
}

void recurrent(LayerCall& call) {
    call.need_numbers(call.input());
    call.need_rank(3, "N x T x features");
    if (call.arguments.flag("carry") && call.arguments.flag("bidirectional"))
        call.fail(msg("{}: a state is carried from one batch to the next only forward, so not with bidirectional=true.", call.kind.name));
    const std::int64_t gates = call.kind.name == "LSTM" ? 4 : call.kind.name == "GRU" ? 3 : 1;
    const double weights = recurrent_weights(call, gates);
    const Size width = number_size(call.arguments.whole("hidden_size") * (call.arguments.flag("bidirectional") ? 2 : 1));
    const Size rows = call.sizes()[0];
    call.give({rows, call.sizes()[1], width});
    call.give({rows, width});
    call.output_roles.push_back("hidden");
    if (call.kind.name == "LSTM") {
        call.give({rows, width});
        call.output_roles.push_back("cell");
    }
    call.flops = 2 * LayerCall::elements({call.sizes()[0], call.sizes()[1]}) * weights;
}

LayerKind recurrent_kind(const char* name, const char* help) {
    std::vector<std::string> order = {"", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional"};
    if (std::string_view(name) == "RNN") order.insert(order.begin() + 3, "nonlinearity");
    return {.name = name,
            .help = help,
            .arguments = {arg::required(arg::whole("hidden_size", 1, "Size of the hidden state.", 1, 1 << 24)), arg::whole("num_layers", 1, "Number of stacked layers.", 1, 1000),
                          arg::flag("bias", true, "Adds a bias."), arg::number("dropout", 0, "Dropout probability between the layers.", 0, 1),
                          arg::flag("bidirectional", false, "Bidirectional: a second network reads the sequence backwards."), arg::flag("carry", false, "Keeps the state for the next batch.")},
            .shape = recurrent,
            .weighted = true,
            .pytorch_order = std::move(order),
            .roles = {"weight", "bias", "weight_ih", "weight_hh", "bias_ih", "bias_hh"}};
}

/// Queries, keys and values: three inputs, or one for all. A mask is the input behind them.
struct AttentionInputs {
    const Sizes &queries, &keys, &values;
};

AttentionInputs attention_inputs(LayerCall& call) {
    const std::size_t count = call.inputs.size() - (call.arguments.given("mask") ? 1 : 0);
    if (count == 2) call.fail(msg("{} takes one value, or queries, keys and values.", call.kind.name));
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const TensorType& input = call.inputs[i];
        call.need_numbers(input);
        if (i < count && input.rank() != 3) call.fail(msg("{} takes {}; the input is {}.", call.kind.name, "N x T x features", to_string(input.sizes)));
    }
    const std::size_t last = count - 1;
    return {call.inputs[0].sizes, call.inputs[last > 0 ? 1 : 0].sizes, call.inputs[last].sizes};
}

/// A mask is added to the scores, N x heads x queries x keys.
void check_mask(const LayerCall& call, const AttentionInputs& in) {
    if (call.arguments.flag("causal")) call.fail(msg("{}: use mask or causal=true, not both.", call.kind.name));
    const Sizes scores{in.queries[0], number_size(call.arguments.whole("num_heads")), in.queries[1], in.keys[1]};
    const Sizes& mask = call.inputs.back().sizes;
    bool fits = mask.size() <= scores.size();
    for (std::size_t at = 1; fits && at <= mask.size(); ++at) {
        const Size& size = mask[mask.size() - at];
        fits = size == number_size(1) || size == scores[scores.size() - at];
    }
    if (!fits)
        call.fail(msg("{}: the mask {} is {}, the scores of the heads are {}. Each size has to be equal, or 1.", call.kind.name, call.arguments.reference("mask"), to_string(mask), to_string(scores)));
}

std::int64_t check_attention(LayerCall& call, const AttentionInputs& in) {
    if (!in.queries[2].is_number() || in.keys[2] != in.queries[2] || in.keys[0] != in.queries[0] || in.values[0] != in.queries[0] || in.keys[1] != in.values[1])
        call.fail(msg("{}: queries {}, keys {} and values {} do not fit one another.", call.kind.name, to_string(in.queries), to_string(in.keys), to_string(in.values)));
    const std::int64_t width = in.queries[2].number, heads = call.arguments.whole("num_heads");
    if (width % heads != 0 || (in.values[2].is_number() && in.values[2].number % heads != 0))
        call.fail(msg("num_heads = {} does not divide the width {}. Use {}.", heads, width, divisors_text(width)));
    if (call.arguments.given("mask")) check_mask(call, in);
    return width;
}

double attention_flops(const AttentionInputs& in) {
    const auto count = [](const Size& size) { return size.is_number() ? static_cast<double>(size.number) : 1.0; };
    return 2 * count(in.queries[1]) * count(in.keys[1]) * (count(in.keys[2]) + count(in.values[2]));
}

void multihead_attention(LayerCall& call) {
    const AttentionInputs in = attention_inputs(call);
    const std::int64_t width = check_attention(call, in);
    if (in.values[2] != in.queries[2])
        call.fail(msg("{}: queries {}, keys {} and values {} do not fit one another.", call.kind.name, to_string(in.queries), to_string(in.keys), to_string(in.values)));
    if (width > size_limit / 4) call.fail(msg("{}: a size of 2^62 or more.", call.kind.name));
    const Size all = number_size(3 * width), one = number_size(width);
    call.parameter("in_proj_weight", {all, one}, {"xavier_uniform", {}, {}});
    call.parameter("in_proj_bias", {all}, {"zeros", {}, {}});
    call.parameter("out_proj.weight", {one, one}, uniform_by_fan(static_cast<double>(width)));
    call.parameter("out_proj.bias", {one}, {"zeros", {}, {}});
    call.give(in.queries);
    const double projected = 2 * LayerCall::elements(in.queries) + LayerCall::elements(in.keys) + LayerCall::elements(in.values);
    call.flops = 2 * projected * static_cast<double>(width) + attention_flops(in);
}

void attention(LayerCall& call) {
    const AttentionInputs in = attention_inputs(call);
    check_attention(call, in);
    call.give({in.queries[0], in.queries[1], in.values[2]});
    call.flops = attention_flops(in);
}

LayerKind attention_kind(const char* name, const char* help) {
    return {.name = name,
            .help = help,
            .arguments = {arg::required(arg::whole("num_heads", 1, "Number of attention heads.")), arg::flag("causal", false, "Causal mask: a position attends only to itself and earlier ones."),
                          {option("mask", "mask", std::string(), "A value that is added to the scores, N x heads x T x T; sizes of 1 fit."), LayerArgument::Form::value}},
            .shape = attention,
            .fewest_inputs = 1,
            .most_inputs = 3};
}

void rotary(LayerCall& call) {
    call.need_numbers(call.input());
    if (call.input().rank() < 3) call.need_rank(3, "N x T x features");
    const std::int64_t features = call.number_at(call.input().rank() - 1);
    if (features % 2 != 0) call.fail(msg("{} turns pairs of features: {} has {} of them. Use an even number.", call.kind.name, to_string(call.sizes()), features));
    call.give(call.sizes());
    call.flops = 4 * LayerCall::elements(call.sizes());
}

}  // namespace

LayerKind kind_RNN() { return recurrent_kind("RNN", "Recurrent network with tanh."); }
LayerKind kind_GRU() { return recurrent_kind("GRU", "Recurrent network with gates."); }
LayerKind kind_LSTM() { return recurrent_kind("LSTM", "Recurrent network with a memory cell."); }
LayerKind kind_MultiheadAttention() {
    LayerKind kind = attention_kind("MultiheadAttention", "Attention with its projections.");
    kind.arguments.push_back(arg::number("dropout", 0, "Dropout probability of the attention weights.", 0, 1));
    kind.shape = multihead_attention;
    kind.pytorch_order = {"", "num_heads", "dropout"};
    kind.weighted = true;
    kind.roles = {"weight", "bias", "in_proj_weight", "in_proj_bias"};
    return kind;
}
LayerKind kind_Attention() { return attention_kind("Attention", "Attention of queries, keys and values, without weights."); }
LayerKind kind_Rotary() {
    return {.name = "Rotary",
            .help = "Turns pairs of features by angles that grow with the place in the sequence.",
            .arguments = {arg::number("base", 10000, "Pair i turns by base^(-2i / features) a place.", 1)},
            .shape = rotary};
}

}  // namespace engine::network
