#include <algorithm>
#include <cmath>

#include "network/from_onnx/operator_call.h"

/// Operators with weights, pools and recurrent layers.
namespace engine::network {
namespace {

using Dims = std::vector<std::int64_t>;
using Numbers = std::vector<float>;

void add_weight(ImportedGraph& graph, ImportedStep& step, const std::string& role, int constant) {
    step.weights.push_back({role, constant, graph.constant(constant).dims, {}});
}

Numbers transposed_matrix(const Numbers& from, std::size_t rows, std::size_t columns) {
    Numbers out(from.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = from[r * columns + c];
    return out;
}

/// Attributes of a window over the dimensions behind N and the channels.
struct Window {
    Dims kernel{}, strides{}, dilations{}, before{}, after{};
    bool ceil_mode = false;

    Window(const OperatorCall& call, Dims size) : kernel(std::move(size)) {
        const std::size_t count = kernel.size();
        const auto list = [&](const char* name, std::int64_t usual) {
            Dims out = call.node.wholes(name);
            if (out.empty()) out.assign(count, usual);
            if (out.size() != count) call.fail(std::string(name) + " does not fit the kernel");
            for (const std::int64_t each : out)
                if (each < 1 || each > 1 << 20) call.fail(std::string(name) + " is out of range");
            return out;
        };
        for (const std::int64_t each : kernel)
            if (each < 1 || each > 1 << 20) call.fail("the kernel is out of range");
        if (static_cast<std::int64_t>(count) + 2 != call.rank() || count < 1 || count > 3) call.fail("the kernel does not fit the input's dimensions");
        strides = list("strides", 1);
        dilations = list("dilations", 1);
        ceil_mode = call.node.whole("ceil_mode", 0) != 0;
        set_pads(call);
    }

    void set_pads(const OperatorCall& call) {
        const std::size_t count = kernel.size();
        Dims pads = call.node.wholes("pads");
        if (pads.empty()) pads.assign(2 * count, 0);
        if (pads.size() != 2 * count) call.fail("pads do not fit the kernel");
        for (const std::int64_t each : pads)
            if (each < 0 || each > 1 << 20) call.fail("pads are out of range");
        const std::string mode = call.node.text("auto_pad", "NOTSET");
        if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER") call.fail("auto_pad=" + mode);
        for (std::size_t i = 0; i < count; ++i) {
            before.push_back(mode == "NOTSET" ? pads[i] : 0);
            after.push_back(mode == "NOTSET" ? pads[count + i] : 0);
            if (mode != "SAME_UPPER" && mode != "SAME_LOWER") continue;
            const std::int64_t size = call.number(call.sizes()[i + 2]), out = (size + strides[i] - 1) / strides[i];
            const std::int64_t total = std::max<std::int64_t>(0, (out - 1) * strides[i] + dilations[i] * (kernel[i] - 1) + 1 - size);
            before.back() = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
            after.back() = total - before.back();
        }
    }

    bool is_even() const { return before == after; }
    bool is_padded() const { return std::ranges::any_of(before, [](auto each) { return each > 0; }) || !is_even(); }

    Extents output(const OperatorCall& call, const Extents& in, std::int64_t channels) const {
        Extents out{in[0], {channels}};
        for (std::size_t i = 0; i < kernel.size(); ++i) {
            const std::int64_t room = call.number(in[i + 2]) + before[i] + after[i] - dilations[i] * (kernel[i] - 1) - 1;
            if (room < 0) call.fail("the window is larger than its input");
            std::int64_t size = room / strides[i] + 1;
            if (ceil_mode && room % strides[i] != 0 && size * strides[i] < call.number(in[i + 2]) + before[i]) ++size;
            out.push_back({size});
        }
        return out;
    }

    std::string text() const { return sizes_text(kernel); }
    void add_to(std::string& arguments, const Dims& usual_strides) const {
        if (strides != usual_strides) add_argument(arguments, "stride", sizes_text(strides));
        if (is_padded()) add_argument(arguments, "padding", sizes_text(before));
    }
};

/// Pads before a layer that takes equal ones alone.
int pad_before(OperatorCall& call, Window& window) {
    if (window.is_even()) return call.input(0);
    Extents sizes = call.sizes();
    Dims sides;
    for (std::size_t i = window.kernel.size(); i-- > 0;) {
        sides.push_back(window.before[i]);
        sides.push_back(window.after[i]);
        sizes[i + 2].number = call.number(sizes[i + 2]) + window.before[i] + window.after[i];
        window.before[i] = window.after[i] = 0;
    }
    std::string all;
    for (const std::int64_t each : sides) all += (all.empty() ? "[" : ", ") + std::to_string(each);
    return call.add_before("Pad", all + ']', call.input(0), std::move(sizes));
}

/// Whether the layer has a bias. One of zeros is none, as exporters say it that drop nothing.
bool has_bias(OperatorCall& call) { return call.given(2) && !(call.value(2).fill && *call.value(2).fill == 0); }

std::string dimensioned(const char* kind, std::size_t dimensions) { return kind + std::to_string(dimensions) + 'd'; }

void convolution(OperatorCall& call) {
    const int weight = call.weight(1);
    const Dims dims = call.graph.constant(weight).dims;
    if (dims.size() < 3) call.fail("its weights have another shape");
    Window window(call, {dims.begin() + 2, dims.end()});
    const std::int64_t groups = call.node.whole("group", 1);
    if (groups < 1 || groups > 1 << 20 || dims[0] % groups != 0 || call.number(call.sizes()[1]) != dims[1] * groups) call.fail("its weights do not fit the input");
    const int from = pad_before(call, window);
    std::string arguments = std::to_string(dims[0]) + ", " + window.text();
    window.add_to(arguments, Dims(window.kernel.size(), 1));
    if (window.dilations != Dims(window.kernel.size(), 1)) add_argument(arguments, "dilation", sizes_text(window.dilations));
    if (groups != 1) add_argument(arguments, "groups", std::to_string(groups));
    if (!has_bias(call)) add_argument(arguments, "bias", "false");
    call.add(dimensioned("Conv", window.kernel.size()), arguments, {from}, window.output(call, call.graph.value(from).sizes, dims[0]));
    ImportedStep& step = call.step();
    add_weight(call.graph, step, "weight", weight);
    if (has_bias(call)) add_weight(call.graph, step, "bias", call.weight(2, 1));
}

void transposed_convolution(OperatorCall& call) {
    const int weight = call.weight(1);
    const Dims dims = call.graph.constant(weight).dims;
    if (dims.size() < 3) call.fail("its weights have another shape");
    const Window window(call, {dims.begin() + 2, dims.end()});
    const std::int64_t groups = call.node.whole("group", 1);
    if (call.node.has("output_shape") || call.node.text("auto_pad", "NOTSET") != "NOTSET") call.fail("its output's shape is given in place of pads");
    if (groups < 1 || groups > 1 << 20 || call.number(call.sizes()[1]) != dims[0]) call.fail("its weights do not fit the input");
    Dims extra = call.node.wholes("output_padding");
    if (extra.empty()) extra.assign(window.kernel.size(), 0);
    if (extra.size() != window.kernel.size()) call.fail("output_padding does not fit the kernel");
    Extents out{call.sizes()[0], {dims[1] * groups}};
    for (std::size_t i = 0; i < window.kernel.size(); ++i) {
        // Fewer pads at the end are the same as more output there.
        extra[i] += window.before[i] - window.after[i];
        if (extra[i] < 0 || extra[i] >= window.strides[i]) call.fail("pads differ between the sides");
        out.push_back({(call.number(call.sizes()[i + 2]) - 1) * window.strides[i] + window.dilations[i] * (window.kernel[i] - 1) + 1 - 2 * window.before[i] + extra[i]});
    }
    std::string arguments = std::to_string(dims[1] * groups) + ", " + window.text();
    window.add_to(arguments, Dims(window.kernel.size(), 1));
    if (std::ranges::any_of(extra, [](auto each) { return each != 0; })) add_argument(arguments, "output_padding", sizes_text(extra));
    if (window.dilations != Dims(window.kernel.size(), 1)) add_argument(arguments, "dilation", sizes_text(window.dilations));
    if (groups != 1) add_argument(arguments, "groups", std::to_string(groups));
    if (!has_bias(call)) add_argument(arguments, "bias", "false");
    call.add(dimensioned("ConvTranspose", window.kernel.size()), arguments, {call.input(0)}, std::move(out));
    ImportedStep& step = call.step();
    add_weight(call.graph, step, "weight", weight);
    if (has_bias(call)) add_weight(call.graph, step, "bias", call.weight(2, 1));
}

/// Adds the layer of a matrix, features x outputs or, `by_outputs`, the other way round.
void linear(OperatorCall& call, int weight, bool by_outputs) {
    const Dims dims = call.graph.constant(weight).dims;
    const std::int64_t features = dims[by_outputs ? 1 : 0], outputs = dims[by_outputs ? 0 : 1];
    Extents sizes = call.sizes();
    if (sizes.size() < 2 || sizes.back() != Extent{features}) call.fail("its weights do not fit the input");
    sizes.back() = {outputs};
    call.add("Linear", "", {call.input(0)}, std::move(sizes));
    ImportedStep& step = call.step();
    step.list = {outputs};
    ImportedWeight made{"weight", weight, {outputs, features}, {}};
    if (!by_outputs)
        made.layout = [rows = static_cast<std::size_t>(features), columns = static_cast<std::size_t>(outputs)](const Numbers& from) { return transposed_matrix(from, rows, columns); };
    step.weights.push_back(std::move(made));
}

void gemm(OperatorCall& call) {
    if (call.node.whole("transA", 0) != 0 || call.rank() != 2) call.fail("its first matrix is transposed");
    if (call.node.number("alpha", 1) != 1 || (call.given(2) && call.node.number("beta", 1) != 1)) call.fail("alpha or beta is not 1");
    linear(call, call.weight(1, 2), call.node.whole("transB", 0) != 0);
    if (!call.given(2)) return;
    const int bias = call.weight(2);
    ImportedStep& step = call.step();
    const std::int64_t outputs = step.list[0];
    const Dims& dims = call.graph.constant(bias).dims;
    if (call.graph.constant(bias).count() != outputs || (outputs > 1 && dims.back() != outputs)) call.fail("its bias is no row");
    step.weights.push_back({"bias", bias, {outputs}, {}});
}

void matrix_product(OperatorCall& call) {
    if (call.is_constant(1) && call.rank(1) == 2 && !call.is_constant(0)) return linear(call, call.weight(1, 2), false);
    const Extents &a = call.sizes(0), &b = call.sizes(1);
    if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) call.fail("the matrices do not fit each other");
    const Extents outer_a(a.begin(), a.end() - 2), outer_b(b.begin(), b.end() - 2);
    Extents out = broadcast_extents({&outer_a, &outer_b});
    out.push_back(a[a.size() - 2]);
    out.push_back(b.back());
    call.add("MatMul", "", {call.input(0), call.input(1)}, std::move(out));
}

std::string eps_text(const OperatorCall& call) {
    std::string out;
    const double eps = call.node.number("epsilon", 1e-5);
    if (std::fabs(eps - 1e-5) > 1e-11) add_argument(out, "eps", number_text(eps));
    return out;
}

void batch_norm(OperatorCall& call) {
    const std::int64_t rank = call.rank();
    if (rank < 2 || rank > 5) call.fail("the input has other dimensions");
    std::string arguments = eps_text(call);
    const double momentum = 1 - call.node.number("momentum", 0.9);
    if (std::fabs(momentum - 0.1) > 1e-6) add_argument(arguments, "momentum", number_text(std::round(momentum * 1e6) / 1e6));
    const Extents sizes = call.sizes();
    call.add(dimensioned("BatchNorm", rank == 2 ? 1 : static_cast<std::size_t>(rank - 2)), arguments, {call.input(0)}, sizes);
    ImportedStep& step = call.step();
    static constexpr const char* roles[] = {"weight", "bias", "running_mean", "running_var"};
    for (std::size_t i = 0; i < 4; ++i) {
        const int each = call.weight(i + 1, 1);
        if (Extent{call.graph.constant(each).count()} != sizes[1]) call.fail("its weights do not fit the channels");
        add_weight(call.graph, step, roles[i], each);
    }
}

void layer_norm(OperatorCall& call) {
    const std::int64_t dims = call.rank() - static_cast<std::int64_t>(call.axis("axis", -1));
    std::string arguments = dims == 1 ? std::string() : "dims=" + std::to_string(dims);
    const bool rms = call.node.op == "RMSNormalization";
    const std::string eps = eps_text(call);
    arguments += (arguments.empty() || eps.empty() ? "" : ", ") + eps;
    if (!rms && !call.given(2)) add_argument(arguments, "bias", "false");
    const int weight = call.weight(1);
    if (static_cast<std::int64_t>(call.graph.constant(weight).dims.size()) != dims) call.fail("its weights do not fit the last dimensions");
    call.add(rms ? "RMSNorm" : "LayerNorm", arguments, {call.input(0)}, call.sizes());
    add_weight(call.graph, call.step(), "weight", weight);
    if (!rms && call.given(2)) add_weight(call.graph, call.step(), "bias", call.weight(2, static_cast<int>(dims)));
}

void channel_norm(OperatorCall& call) {
    const bool groups = call.node.op == "GroupNormalization";
    if (groups && call.opset() < 21) call.fail("before opset 21 it has a weight for each group alone");
    if (!groups && call.rank() != 4) call.fail("the input has other dimensions");
    std::string arguments = groups ? std::to_string(call.node.whole("num_groups", 1)) : "affine=true";
    const std::string eps = eps_text(call);
    call.add(groups ? "GroupNorm" : "InstanceNorm2d", arguments + (eps.empty() ? "" : ", ") + eps, {call.input(0)}, call.sizes());
    add_weight(call.graph, call.step(), "weight", call.weight(1, 1));
    add_weight(call.graph, call.step(), "bias", call.weight(2, 1));
}

void pool(OperatorCall& call) {
    if (call.node.outputs.size() > 1 && !call.node.outputs[1].empty()) call.fail("its indices are asked for");
    Window window(call, call.node.wholes("kernel_shape"));
    const bool maximum = call.node.op == "MaxPool";
    const bool counts = call.node.whole("count_include_pad", 0) != 0;
    if (!window.is_even() && (maximum || !counts)) call.fail("its pads differ between the sides");
    const int from = pad_before(call, window);
    std::string arguments = window.text();
    window.add_to(arguments, window.kernel);
    const bool dilated = window.dilations != Dims(window.kernel.size(), 1);
    if (dilated && !maximum) call.fail("it has dilations");
    if (dilated) add_argument(arguments, "dilation", sizes_text(window.dilations));
    if (window.ceil_mode) add_argument(arguments, "ceil_mode", "true");
    if (!maximum && window.is_padded() && !counts) add_argument(arguments, "count_include_pad", "false");
    const Extents in = call.graph.value(from).sizes;
    call.add(dimensioned(maximum ? "MaxPool" : "AvgPool", window.kernel.size()), arguments, {from}, window.output(call, in, call.number(in[1])));
}

void global_pool(OperatorCall& call) {
    if (call.rank() < 3 || call.rank() > 5) call.fail("the input has other dimensions");
    Extents out = call.sizes();
    std::fill(out.begin() + 2, out.end(), Extent{1});
    call.add(dimensioned(call.node.op == "GlobalMaxPool" ? "AdaptiveMaxPool" : "AdaptiveAvgPool", static_cast<std::size_t>(call.rank() - 2)), "1", {call.input(0)}, std::move(out));
}

// Recurrent layers.

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

Dims gate_order(const OperatorCall& call) {
    const std::string& op = call.node.op;
    if (call.node.has("clip") || call.node.whole("input_forget", 0) != 0 || call.node.whole("layout", 0) != 0 || call.given(7)) call.fail("it has a clip, peepholes, another layout or coupled gates");
    if (const auto found = call.node.attributes.find("activations"); found != call.node.attributes.end()) call.fail("it names its activations");
    if (call.given(4)) call.fail("the lengths of its sequences are given");
    for (const std::size_t state : {std::size_t{5}, std::size_t{6}})
        if (call.given(state)) {
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
    if (direction == "reverse") call.fail("it reads backwards alone");
    if (hidden < 1 || hidden > 1 << 24 || dims[0] != static_cast<std::int64_t>(directions) || dims[1] != static_cast<std::int64_t>(count) * hidden || call.rank() != 3 ||
        call.sizes()[2] != Extent{dims[2]} || call.graph.constant(state_weights).dims != Dims{dims[0], dims[1], hidden})
        call.fail("its weights do not fit the input");
    const Extent length = call.sizes()[0], batch = call.sizes()[1];
    const int turned = call.add_before("Permute", "", call.input(0), {batch, length, call.sizes()[2]});
    call.graph.steps.back().list = {1, 0, 2};
    const bool has_bias = call.given(3);
    const int bias = has_bias ? call.weight(3, 2) : -1;
    if (has_bias && call.graph.constant(bias).dims != Dims{dims[0], 2 * dims[1]}) call.fail("its bias does not fit");
    const std::int64_t width = hidden * static_cast<std::int64_t>(directions);
    const int out = call.graph.add_step({.kind = call.node.op, .inputs = {turned}, .list = {hidden, 1, has_bias, directions == 2}, .node = call.node.name, .op = call.node.op}, {batch, length, {width}});
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
    call.give(call.graph.add_value({.sizes = {length, number, batch, {hidden}}, .form = ImportedValue::Form::sequence, .of = {out}}));
    static constexpr const char* roles[] = {"hidden", "cell"};
    for (std::size_t i = 0; i < 2 && i + 1 < call.node.outputs.size(); ++i) {
        const int state = call.graph.add_value({.sizes = {batch, {width}}, .step = static_cast<int>(call.graph.steps.size()) - 1, .role = roles[i]});
        call.graph.steps.back().outputs.push_back(state);
        call.give(call.graph.add_value({.sizes = {number, batch, {hidden}}, .form = ImportedValue::Form::states, .of = {state}}), i + 1);
    }
}

}  // namespace

const std::map<std::string, ReadOperator>& layer_operators() {
    static const std::map<std::string, ReadOperator> all = {
        {"Conv", convolution}, {"ConvTranspose", transposed_convolution}, {"Gemm", gemm}, {"MatMul", matrix_product},
        {"BatchNormalization", batch_norm}, {"LayerNormalization", layer_norm}, {"RMSNormalization", layer_norm},
        {"InstanceNormalization", channel_norm}, {"GroupNormalization", channel_norm}, {"MaxPool", pool}, {"AveragePool", pool},
        {"GlobalAveragePool", global_pool}, {"GlobalMaxPool", global_pool}, {"LSTM", recurrent}, {"GRU", recurrent}, {"RNN", recurrent}};
    return all;
}

}  // namespace engine::network
