#include <algorithm>
#include <cmath>
#include <limits>

#include "network/from_onnx/operator_call.h"

/// Operators of single numbers: activations, arithmetic, dropout and casts.
namespace engine::network {
namespace {

/// The layer of the same meaning, for operators without arguments.
void same_layer(OperatorCall& call) {
    static const std::map<std::string, const char*> layers = {
        {"Relu", "ReLU"}, {"Sigmoid", "Sigmoid"}, {"Tanh", "Tanh"}, {"HardSwish", "Hardswish"}, {"Softplus", "Softplus"}, {"Softsign", "Softsign"},
        {"Mish", "Mish"}, {"Sqrt", "Sqrt"}, {"Exp", "Exp"}, {"Log", "Log"}, {"Abs", "Abs"}, {"Erf", "Erf"}};
    call.add(layers.at(call.node.op), "", {call.input(0)}, call.sizes());
}

bool is_near(double a, double b) { return std::fabs(a - b) < 1e-4; }

void with_alpha(OperatorCall& call) {
    const std::string& op = call.node.op;
    const double alpha = call.node.number("alpha", op == "LeakyRelu" ? 0.01 : op == "HardSigmoid" ? 0.2 : 1);
    if (op == "LeakyRelu") {
        call.add("LeakyReLU", std::fabs(alpha - 0.01) < 1e-8 ? "" : number_text(alpha), {call.input(0)}, call.sizes());
    } else if (op == "HardSigmoid") {
        if (!is_near(alpha, 1.0 / 6) || !is_near(call.node.number("beta", 0.5), 0.5)) call.fail("alpha and beta are not those of PyTorch's");
        call.add("Hardsigmoid", "", {call.input(0)}, call.sizes());
    } else {
        if (!is_near(alpha, 1)) call.fail("alpha is not 1");
        call.add(op == "Elu" ? "ELU" : op == "Celu" ? "CELU" : "SiLU", "", {call.input(0)}, call.sizes());
    }
}

void selu(OperatorCall& call) {
    if (!is_near(call.node.number("alpha", 1.67326), 1.67326) || !is_near(call.node.number("gamma", 1.0507), 1.0507)) call.fail("alpha and gamma are not the usual ones");
    call.add("SELU", "", {call.input(0)}, call.sizes());
}

void gelu(OperatorCall& call) {
    const std::string form = call.node.text("approximate", "none");
    call.add("GELU", form == "tanh" ? "approximate=tanh" : "", {call.input(0)}, call.sizes());
}

void prelu(OperatorCall& call) {
    const int slope = call.weight(1);
    const std::int64_t count = call.graph.constant(slope).count();
    const std::vector<std::int64_t>& dims = call.graph.constant(slope).dims;
    const auto rank = static_cast<std::size_t>(call.rank());
    // Its shape is aligned at the last dimension: slopes of channels stand before sizes of 1.
    const bool by_channel = rank >= 2 && dims.size() + 1 >= rank && dims.size() <= rank && dims[dims.size() + 1 - rank] == count && call.sizes()[1] == Extent{count};
    if (count != 1 && !by_channel) call.fail("its slopes are not those of channels");
    call.add("PReLU", count == 1 ? "" : "num_parameters=" + std::to_string(count), {call.input(0)}, call.sizes());
    call.step().weights.push_back({"weight", slope, {count}, {}});
}

void clip(OperatorCall& call) {
    constexpr double largest = std::numeric_limits<float>::max();
    const bool by_inputs = call.opset() >= 11;
    const double low = by_inputs ? (call.given(1) ? call.scalar(1) : -largest) : call.node.number("min", -largest);
    const double high = by_inputs ? (call.given(2) ? call.scalar(2) : largest) : call.node.number("max", largest);
    if (!(low <= high)) call.fail("its bounds are not in order");
    if (low == 0 && high == 6) call.add("ReLU6", "", {call.input(0)}, call.sizes());
    else if (low == 0 && high >= largest) call.add("ReLU", "", {call.input(0)}, call.sizes());
    else call.add("Clamp", number_text(low) + ", " + number_text(high), {call.input(0)}, call.sizes());
}

void softmax(OperatorCall& call) {
    const std::size_t axis = call.axis("axis", call.opset() < 13 ? 1 : -1);
    if (call.opset() < 13 && axis + 1 != call.sizes().size()) call.fail("before opset 13 it takes all dimensions from its axis as one");
    call.add(call.node.op == "Softmax" ? "Softmax" : "LogSoftmax", std::to_string(axis), {call.input(0)}, call.sizes());
    call.step().list = {static_cast<std::int64_t>(axis)};
}

void negative(OperatorCall& call) { call.add("Scale", "-1", {call.input(0)}, call.sizes()); }

int number_value(OperatorCall& call, double number) {
    return call.graph.add_constant({.numbers = {static_cast<float>(number)}});
}

void reciprocal(OperatorCall& call) {
    const int one = number_value(call, 1);
    call.add("Div", "", {one, call.input(0)}, call.sizes());
}

void power(OperatorCall& call) {
    const auto exponent = call.graph.scalar(call.input(1));
    if (!exponent || call.value(0).is_constant()) call.fail("its exponent is not 2 or 0.5");
    if (*exponent == 2) call.add("Square", "", {call.input(0)}, call.sizes());
    else if (*exponent == 0.5) call.add("Sqrt", "", {call.input(0)}, call.sizes());
    else call.fail("its exponent is not 2 or 0.5");
}

void arithmetic(OperatorCall& call) {
    static const std::map<std::string, const char*> layers = {{"Add", "Add"}, {"Sum", "Add"}, {"Sub", "Sub"}, {"Mul", "Mul"},
                                                              {"Div", "Div"}, {"Max", "Maximum"}, {"Min", "Minimum"}};
    std::vector<const Extents*> sizes;
    std::vector<int> from;
    for (std::size_t i = 0; i < call.input_count(); ++i) call.for_any_batch(i);
    for (std::size_t i = 0; i < call.input_count(); ++i) {
        if (call.value(i).whole) call.fail("it computes with whole numbers of the input");
        sizes.push_back(&call.sizes(i));
        from.push_back(call.input(i));
    }
    if (from.size() == 1) return call.drop(call.node.op);
    if (from.empty() || (from.size() > 2 && (call.node.op == "Sub" || call.node.op == "Div"))) call.fail("it has another number of inputs");
    const Extents out = broadcast_extents(sizes);
    call.add(layers.at(call.node.op), "", std::move(from), out);
}

void dropout(OperatorCall& call) {
    const double ratio = call.given(1) ? call.scalar(1) : call.node.number("ratio", 0.5);
    if (!(ratio > 0)) return call.drop("Dropout");
    call.add("Dropout", number_text(ratio), {call.input(0)}, call.sizes());
}

/// Dropout that was taken apart: random numbers, of which those below a share keep their elements.
void random(OperatorCall& call) {
    if (call.node.number("low", 0) != 0 || call.node.number("high", 1) != 1) call.fail("its numbers are not between 0 and 1");
    call.add("Random", "", {}, call.sizes());
}
void less(OperatorCall& call) {
    const int at = call.value(0).step;
    if (at < 0 || call.graph.step(at).kind != "Random") call.fail("no layer for it here");
    call.add("Keep", number_text(call.scalar(1)), {call.input(0)}, call.sizes());
}

void identity(OperatorCall& call) { call.drop("Identity"); }

void cast(OperatorCall& call) {
    const std::int64_t to = call.node.whole("to", 0);
    const bool real = to == OnnxTensor::f32 || to == OnnxTensor::f16 || to == OnnxTensor::f64 || to == OnnxTensor::bf16;
    if (real == call.value(0).whole) call.fail("it makes whole numbers of others, or the other way round");
    call.drop("Cast");
}

}  // namespace

const std::map<std::string, ReadOperator>& elementwise_operators() {
    static const std::map<std::string, ReadOperator> all = {
        {"Relu", same_layer}, {"Sigmoid", same_layer}, {"Tanh", same_layer}, {"HardSwish", same_layer}, {"Softplus", same_layer},
        {"Softsign", same_layer}, {"Mish", same_layer}, {"Sqrt", same_layer}, {"Exp", same_layer}, {"Log", same_layer}, {"Abs", same_layer},
        {"Erf", same_layer}, {"LeakyRelu", with_alpha}, {"HardSigmoid", with_alpha}, {"Elu", with_alpha}, {"Celu", with_alpha}, {"Swish", with_alpha},
        {"Selu", selu}, {"Gelu", gelu}, {"PRelu", prelu}, {"Clip", clip}, {"Softmax", softmax}, {"LogSoftmax", softmax}, {"Neg", negative},
        {"Reciprocal", reciprocal}, {"Pow", power}, {"Add", arithmetic}, {"Sum", arithmetic}, {"Sub", arithmetic}, {"Mul", arithmetic},
        {"Div", arithmetic}, {"Max", arithmetic}, {"Min", arithmetic}, {"Dropout", dropout}, {"RandomUniformLike", random}, {"Less", less}, {"Identity", identity}, {"Cast", cast}};
    return all;
}

}  // namespace engine::network
