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

constexpr double largest = std::numeric_limits<float>::max();

int clamped(OperatorCall& call, int from, double low, double high) {
    return call.add_before("Clamp", number_text(low) + ", " + number_text(high), {from}, call.graph.value(from).sizes);
}

/// Numbers above 0 times `above`, and below 0 alpha (exp(x / width) - 1).
void exponential(OperatorCall& call, double above, double alpha, double width) {
    const Extents sizes = call.sizes();
    const auto layer = [&](const char* kind, const std::string& arguments, std::vector<int> from) { return call.add_before(kind, arguments, std::move(from), sizes); };
    int below = clamped(call, call.input(0), -largest, 0);
    if (width != 1) below = layer("Scale", number_text(1 / width), {below});
    below = layer("Scale", number_text(alpha), {layer("Add", "", {layer("Exp", "", {below}), call.number_value(-1)})});
    int positive = layer("ReLU", "", {call.input(0)});
    if (above != 1) positive = layer("Scale", number_text(above), {positive});
    call.give(layer("Add", "", {positive, below}));
}

void leaky_relu(OperatorCall& call) {
    const double alpha = call.node.number("alpha", 0.01);
    call.add("LeakyReLU", std::fabs(alpha - 0.01) < 1e-8 ? "" : number_text(alpha), {call.input(0)}, call.sizes());
}

void hard_sigmoid(OperatorCall& call) {
    const double alpha = call.node.number("alpha", 0.2), beta = call.node.number("beta", 0.5);
    if (is_near(alpha, 1.0 / 6) && is_near(beta, 0.5)) return static_cast<void>(call.add("Hardsigmoid", "", {call.input(0)}, call.sizes()));
    const int scaled = call.add_before("Scale", number_text(alpha), {call.input(0)}, call.sizes());
    call.give(clamped(call, call.add_before("Add", "", {scaled, call.number_value(beta)}, call.sizes()), 0, 1));
}

void elu(OperatorCall& call) {
    const double alpha = call.node.number("alpha", 1);
    if (is_near(alpha, 1)) call.add("ELU", "", {call.input(0)}, call.sizes());
    else exponential(call, 1, alpha, 1);
}

void celu(OperatorCall& call) {
    const double alpha = call.node.number("alpha", 1);
    if (alpha == 0) call.fail("alpha is 0");
    if (is_near(alpha, 1)) call.add("CELU", "", {call.input(0)}, call.sizes());
    else exponential(call, 1, alpha, alpha);
}

void selu(OperatorCall& call) {
    const double alpha = call.node.number("alpha", 1.67326319217681884765625), gamma = call.node.number("gamma", 1.05070102214813232421875);
    if (is_near(alpha, 1.67326) && is_near(gamma, 1.0507)) call.add("SELU", "", {call.input(0)}, call.sizes());
    else exponential(call, gamma, alpha * gamma, 1);
}

void swish(OperatorCall& call) {
    const double alpha = call.node.number("alpha", 1);
    if (is_near(alpha, 1)) return static_cast<void>(call.add("SiLU", "", {call.input(0)}, call.sizes()));
    const int gate = call.add_before("Sigmoid", "", {call.add_before("Scale", number_text(alpha), {call.input(0)}, call.sizes())}, call.sizes());
    call.add("Mul", "", {call.input(0), gate}, call.sizes());
}

/// Numbers above alpha; others become 0.
void thresholded_relu(OperatorCall& call) {
    const int above = call.add_before("Sub", "", {call.input(0), call.number_value(call.node.number("alpha", 1))}, call.sizes());
    call.add("Where", "", {call.add_before("ReLU", "", {above}, call.sizes()), call.input(0), call.number_value(0)}, call.sizes());
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
    if (count != 1 && !by_channel) {
        // relu(x) + slope * min(x, 0)
        const Extents sizes = call.sizes(), slopes = call.sizes(1);
        if (broadcast_extents({&sizes, &slopes}) != sizes) call.fail("its slopes do not fit the input");
        const int below = call.add_before("Mul", "", {clamped(call, call.input(0), -largest, 0), call.input(1)}, sizes);
        call.add("Add", "", {call.add_before("ReLU", "", {call.input(0)}, sizes), below}, sizes);
        return;
    }
    call.add("PReLU", count == 1 ? "" : "num_parameters=" + std::to_string(count), {call.input(0)}, call.sizes());
    call.step().weights.push_back({"weight", slope, {count}, {}});
}

void clip(OperatorCall& call) {
    const bool by_inputs = call.opset() >= 11;
    double low = by_inputs ? (call.given(1) ? call.scalar(1) : -largest) : call.node.number("min", -largest);
    const double high = by_inputs ? (call.given(2) ? call.scalar(2) : largest) : call.node.number("max", largest);
    if (std::isnan(low) || std::isnan(high)) call.fail("a bound is no number");
    low = std::min(std::max(low, -largest), std::min(high, largest));  // the upper bound is above the lower one
    if (low == 0 && high == 6) call.add("ReLU6", "", {call.input(0)}, call.sizes());
    else if (low == 0 && high >= largest) call.add("ReLU", "", {call.input(0)}, call.sizes());
    else call.add("Clamp", number_text(low) + ", " + number_text(high), {call.input(0)}, call.sizes());
}

void softmax(OperatorCall& call) {
    const std::size_t axis = call.axis("axis", call.opset() < 13 ? 1 : -1);
    const char* kind = call.node.op == "Softmax" ? "Softmax" : "LogSoftmax";
    const Extents sizes = call.sizes();
    if (call.opset() >= 13 || axis + 1 == sizes.size()) {
        call.add(kind, std::to_string(axis), {call.input(0)}, sizes);
        call.step().list = {static_cast<std::int64_t>(axis)};
        return;
    }
    // Before opset 13 it takes all dimensions from its axis on as one.
    if (axis == 0) call.fail("it takes all samples together");
    Extents flat(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    flat.push_back({1});
    for (std::size_t i = axis; i < sizes.size(); ++i) flat.back().number *= call.number(sizes[i]);
    const int from = call.add_view("Reshape", {}, call.input(0), flat);
    const int out = call.add_before(kind, std::to_string(axis), {from}, flat);
    call.step().list = {static_cast<std::int64_t>(axis)};
    call.give(call.add_view("Reshape", {}, out, sizes));
}

void negative(OperatorCall& call) { call.add("Scale", "-1", {call.input(0)}, call.sizes()); }

void reciprocal(OperatorCall& call) { call.add("Div", "", {call.number_value(1), call.input(0)}, call.sizes()); }

void power(OperatorCall& call) {
    const auto exponent = call.graph.scalar(call.input(1)), base = call.graph.scalar(call.input(0));
    if (base && !call.value(1).is_constant() && *base > 0)  // a^x = exp(x log a)
        return static_cast<void>(call.add("Exp", "", {call.add_before("Scale", number_text(std::log(*base)), {call.input(1)}, call.sizes(1))}, call.sizes(1)));
    if (!exponent || call.value(0).is_constant()) call.fail("its exponent is no number");
    const Extents sizes = call.sizes();
    if (broadcast_extents({&sizes, &call.sizes(1)}) != sizes) call.fail("its exponent has more dimensions");
    constexpr double most = 8;
    const int x = call.input(0);
    if (*exponent == 1) call.drop("Pow");
    else if (*exponent == 2) call.add("Square", "", {x}, sizes);
    else if (*exponent == 0.5) call.add("Sqrt", "", {x}, sizes);
    else if (*exponent == -0.5) call.add("Div", "", {call.number_value(1), call.add_before("Sqrt", "", {x}, sizes)}, sizes);
    else if (*exponent == -1) reciprocal(call);
    else if (*exponent > 2 && *exponent <= most && std::floor(*exponent) == *exponent) call.add("Mul", "", std::vector<int>(static_cast<std::size_t>(*exponent), x), sizes);
    else if (std::floor(*exponent) != *exponent) call.add("Exp", "", {call.add_before("Scale", number_text(*exponent), {call.add_before("Log", "", {x}, sizes)}, sizes)}, sizes);
    else call.fail("its exponent is below -1 or above 8");
}

/// Value 0 or 1 where a comparison has truths: relu(a - b) is not 0 where a is above b.
void comparison(OperatorCall& call) {
    const int at = call.value(0).step;
    if (call.node.op == "Less" && at >= 0 && call.graph.step(at).kind == "Random")  // dropout that was taken apart
        return static_cast<void>(call.add("Keep", number_text(call.scalar(1)), {call.input(0)}, call.sizes()));
    if (call.value(0).whole || call.value(1).whole) call.fail("it compares whole numbers of the input");
    const std::string& op = call.node.op;
    const bool turned = op == "Less" || op == "GreaterOrEqual", negated = op == "GreaterOrEqual" || op == "LessOrEqual" || op == "Equal";
    const Extents sizes = broadcast_extents({&call.sizes(0), &call.sizes(1)});
    const int difference = call.add_before("Sub", "", {call.input(turned ? 1 : 0), call.input(turned ? 0 : 1)}, sizes);
    const int condition = call.add_before(op == "Equal" ? "Abs" : "ReLU", "", {difference}, sizes);
    call.add("Where", "", {condition, call.number_value(negated ? 0 : 1), call.number_value(negated ? 1 : 0)}, sizes);
}

void sign(OperatorCall& call) {
    const Extents sizes = call.sizes();
    const int below = call.add_before("ReLU", "", {call.add_before("Scale", "-1", {call.input(0)}, sizes)}, sizes);
    const int rest = call.add_before("Where", "", {below, call.number_value(-1), call.number_value(0)}, sizes);
    call.add("Where", "", {call.add_before("ReLU", "", {call.input(0)}, sizes), call.number_value(1), rest}, sizes);
}

void choice(OperatorCall& call) {
    if (call.value(1).whole || call.value(2).whole) call.fail("it chooses among whole numbers of the input");
    int condition = call.input(0);
    if (call.value(0).whole) {
        if (call.value(0).constant < 0) call.fail("its condition follows from whole numbers of the input");
        ImportedConstant made{.dims = call.graph.constant(call.value(0).constant).dims, .fixed = true};
        for (const Extent& each : call.graph.wholes(call.value(0).constant)) made.numbers.push_back(each.number != 0 ? 1.0F : 0.0F);
        call.graph.count_work(made.count());
        condition = call.graph.add_constant(std::move(made));
    }
    const Extents sizes = broadcast_extents({&call.graph.value(condition).sizes, &call.sizes(1), &call.sizes(2)});
    call.add("Where", "", {condition, call.input(1), call.input(2)}, sizes);
}

void arithmetic(OperatorCall& call) {
    static const std::map<std::string, const char*> layers = {{"Add", "Add"}, {"Sum", "Add"}, {"Mean", "Add"}, {"Sub", "Sub"}, {"Mul", "Mul"},
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
    const auto count = static_cast<double>(from.size());
    const int made = call.add_before(layers.at(call.node.op), "", std::move(from), out);
    call.give(call.node.op == "Mean" ? call.add_before("Scale", number_text(1 / count), {made}, out) : made);
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
        {"Erf", same_layer}, {"LeakyRelu", leaky_relu}, {"HardSigmoid", hard_sigmoid}, {"Elu", elu}, {"Celu", celu}, {"Swish", swish}, {"ThresholdedRelu", thresholded_relu},
        {"Selu", selu}, {"Gelu", gelu}, {"PRelu", prelu}, {"Clip", clip}, {"Softmax", softmax}, {"LogSoftmax", softmax}, {"Neg", negative},
        {"Reciprocal", reciprocal}, {"Pow", power}, {"Add", arithmetic}, {"Sum", arithmetic}, {"Sub", arithmetic}, {"Mul", arithmetic},
        {"Div", arithmetic}, {"Max", arithmetic}, {"Min", arithmetic}, {"Dropout", dropout}, {"RandomUniformLike", random}, {"Less", comparison}, {"Greater", comparison}, {"LessOrEqual", comparison}, {"GreaterOrEqual", comparison}, {"Equal", comparison}, {"Sign", sign}, {"Where", choice}, {"Mean", arithmetic}, {"Identity", identity}, {"Cast", cast}};
    return all;
}

}  // namespace engine::network
