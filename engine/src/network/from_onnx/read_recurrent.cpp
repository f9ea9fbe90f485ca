#include <algorithm>

#include "engine/base/plain_text.h"
#include "network/from_onnx/operator_call.h"

/// Recurrent layers.
namespace engine::network {
namespace {

using Dims = std::vector<std::int64_t>;
using Numbers = std::vector<float>;

/// Rows of a direction's gates, in PyTorch's order.
ImportedWeight gates(const std::string& role, int constant, const Dims& order, std::size_t hidden, std::size_t width, std::size_t start) {
    const std::size_t block = hidden * width;
    const auto layout = [=](const Numbers& from) {
        Numbers out;
        for (const std::int64_t each : order) {
            const auto first = from.begin() + static_cast<std::ptrdiff_t>(start + static_cast<std::size_t>(each) * block);
            out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(block));
        }
        return out;
    };
    const auto rows = static_cast<std::int64_t>(order.size() * hidden);
    return {role, constant, width == 1 && role.starts_with("bias") ? Dims{rows} : Dims{rows, static_cast<std::int64_t>(width)}, layout};
}

/// The names of the activations that the operator has without any.
std::string usual_activations(const OperatorCall& call) {
    const std::string one = call.node.op == "LSTM" ? "Sigmoid Tanh Tanh" : call.node.op == "GRU" ? "Sigmoid Tanh" : "Tanh";
    return call.node.text("direction", "forward") == "bidirectional" ? one + ' ' + one : one;
}

Dims gate_order(const OperatorCall& call) {
    const std::string& op = call.node.op;
    if (call.node.has("clip") || call.node.whole("input_forget", 0) != 0 || call.node.whole("layout", 0) != 0 || call.given(7)) call.fail("it has a clip, peepholes, another layout or coupled gates");
    if (const std::string given = join(call.node.words("activations"), " "); !given.empty() && given != usual_activations(call)) call.fail("its activations are not PyTorch's");
    if (call.given(4)) call.fail("the lengths of its sequences are given");
    for (const std::size_t state : {std::size_t{5}, std::size_t{6}})
        if (call.given(state) && call.value(state).form != ImportedValue::Form::carried) {
            const auto zero = call.graph.scalar(call.input(state));
            const int constant = call.value(state).constant;
            const bool zeros = constant >= 0 && std::ranges::all_of(call.graph.numbers(constant), [](float each) { return each == 0; });
            if (!(zero && *zero == 0) && !zeros) call.fail("it does not begin with a state of zeros");
        }
    if (op == "GRU" && call.node.whole("linear_before_reset", 0) == 0) call.fail("linear_before_reset is 0");
    if (op == "LSTM") return {0, 2, 3, 1};
    if (op == "GRU") return {1, 0, 2};
    return {0};
}

void recurrent(OperatorCall& call) {
    const Dims order = gate_order(call);
    const int input_weights = call.weight(1, 3), state_weights = call.weight(2, 3);
    const Dims dims = call.graph.constant(input_weights).dims;
    const std::string direction = call.node.text("direction", "forward");
    const auto directions = static_cast<std::size_t>(direction == "bidirectional" ? 2 : 1), count = order.size();
    const std::int64_t hidden = call.node.whole("hidden_size", 0);
    const bool reverse = direction == "reverse";
    if (hidden < 1 || hidden > 1 << 24 || dims[0] != static_cast<std::int64_t>(directions) || dims[1] != static_cast<std::int64_t>(count) * hidden || call.rank() != 3 ||
        call.sizes()[2] != Extent{dims[2]} || call.graph.constant(state_weights).dims != Dims{dims[0], dims[1], hidden})
        call.fail("its weights do not fit the input");
    const Extent length = call.sizes()[0], batch = call.sizes()[1];
    const int turned = call.add_view("Permute", {1, 0, 2}, call.input(0), {batch, length, call.sizes()[2]});
    const int from = reverse ? call.add_before("Flip", "1", {turned}, {batch, length, call.sizes()[2]}) : turned;
    const bool carries = call.given(5) && call.value(5).form == ImportedValue::Form::carried;
    const bool has_bias = call.given(3);
    const int bias = has_bias ? call.weight(3, 2) : -1;
    if (has_bias && call.graph.constant(bias).dims != Dims{dims[0], 2 * dims[1]}) call.fail("its bias does not fit");
    const std::int64_t width = hidden * static_cast<std::int64_t>(directions);
    const int out = call.graph.add_step({.kind = call.node.op, .inputs = {from}, .list = {hidden, 1, has_bias, directions == 2, carries}, .node = call.node.name, .op = call.node.op}, {batch, length, {width}});
    ImportedStep& step = call.step();
    const auto h = static_cast<std::size_t>(hidden), f = static_cast<std::size_t>(dims[2]);
    for (std::size_t d = 0; d < directions; ++d) {
        const std::string end = d == 0 ? "_l0" : "_l0_reverse";
        step.weights.push_back(gates("weight_ih" + end, input_weights, order, h, f, d * count * h * f));
        step.weights.push_back(gates("weight_hh" + end, state_weights, order, h, h, d * count * h * h));
        if (!has_bias) continue;
        step.weights.push_back(gates("bias_ih" + end, bias, order, h, 1, 2 * d * count * h));
        step.weights.push_back(gates("bias_hh" + end, bias, order, h, 1, (2 * d + 1) * count * h));
    }
    const Extent number{static_cast<std::int64_t>(directions)};
    const auto layer = static_cast<int>(call.graph.steps.size()) - 1;
    const int sequence = reverse ? call.add_before("Flip", "1", {out}, {batch, length, {width}}) : out;
    call.give(call.graph.add_value({.sizes = {length, number, batch, {hidden}}, .form = ImportedValue::Form::sequence, .of = {sequence}}));
    static constexpr const char* roles[] = {"hidden", "cell"};
    for (std::size_t i = 0; i < 2 && i + 1 < call.node.outputs.size(); ++i) {
        const int state = call.graph.add_value({.sizes = {batch, {width}}, .step = layer, .role = roles[i]});
        call.graph.step(layer).outputs.push_back(state);
        call.give(call.graph.add_value({.sizes = {number, batch, {hidden}}, .form = ImportedValue::Form::states, .of = {state}}), i + 1);
    }
}

}  // namespace

const std::map<std::string, ReadOperator>& recurrent_operators() {
    static const std::map<std::string, ReadOperator> all = {{"LSTM", recurrent}, {"GRU", recurrent}, {"RNN", recurrent}};
    return all;
}

}  // namespace engine::network
