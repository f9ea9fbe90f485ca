#include <algorithm>
#include <cmath>
#include <utility>

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
    /// Whether each window holds some of the input.
    bool pads_fit() const {
        for (std::size_t i = 0; i < kernel.size(); ++i)
            if (before[i] >= kernel[i] || after[i] >= kernel[i]) return false;
        return true;
    }
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
int pad_before(OperatorCall& call, Window& window, const char* mode = nullptr) {
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
    return call.add_before("Pad", all + ']' + (mode == nullptr ? "" : std::string(", mode=") + mode), {call.input(0)}, std::move(sizes));
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

/// Pads that follow from the output's shape.
void set_transposed_pads(const OperatorCall& call, Window& window, const Dims& extra) {
    const std::string mode = call.node.text("auto_pad", "NOTSET");
    Dims shape = call.node.wholes("output_shape");
    const std::size_t count = window.kernel.size();
    if (shape.size() > count) shape.erase(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(count));
    if (shape.empty() && !mode.starts_with("SAME_")) return;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t in = call.number(call.sizes()[i + 2]), wanted = shape.size() == count ? shape[i] : in * window.strides[i];
        const std::int64_t total = (in - 1) * window.strides[i] + extra[i] + window.dilations[i] * (window.kernel[i] - 1) + 1 - wanted;
        if (total < 0) call.fail("its output's shape is larger than its windows reach");
        window.before[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
        window.after[i] = total - window.before[i];
    }
}

void transposed_convolution(OperatorCall& call) {
    const int weight = call.weight(1);
    const Dims dims = call.graph.constant(weight).dims;
    if (dims.size() < 3) call.fail("its weights have another shape");
    Window window(call, {dims.begin() + 2, dims.end()});
    const std::int64_t groups = call.node.whole("group", 1);
    if (groups < 1 || groups > 1 << 20 || call.number(call.sizes()[1]) != dims[0]) call.fail("its weights do not fit the input");
    Dims extra = call.node.wholes("output_padding");
    if (extra.empty()) extra.assign(window.kernel.size(), 0);
    if (extra.size() != window.kernel.size()) call.fail("output_padding does not fit the kernel");
    set_transposed_pads(call, window, extra);
    Extents out{call.sizes()[0], {dims[1] * groups}};
    Dims cut_before(extra.size(), 0), cut_after(extra.size(), 0);  // pads that the layer lacks: they are taken off behind it
    for (std::size_t i = 0; i < extra.size(); ++i) {
        // Fewer pads at the end are the same as more output there.
        const std::int64_t more = extra[i] + window.before[i] - window.after[i];
        if (more >= 0 && more < window.strides[i]) {
            extra[i] = more;
        } else {
            cut_before[i] = std::exchange(window.before[i], 0);
            cut_after[i] = window.after[i];
        }
        if (extra[i] < 0 || extra[i] >= std::max(window.strides[i], window.dilations[i])) call.fail("output_padding is out of range");
        out.push_back({(call.number(call.sizes()[i + 2]) - 1) * window.strides[i] + window.dilations[i] * (window.kernel[i] - 1) + 1 - 2 * window.before[i] + extra[i]});
    }
    window.after = window.before;
    std::string arguments = std::to_string(dims[1] * groups) + ", " + window.text();
    window.add_to(arguments, Dims(window.kernel.size(), 1));
    if (std::ranges::any_of(extra, [](auto each) { return each != 0; })) add_argument(arguments, "output_padding", sizes_text(extra));
    if (window.dilations != Dims(window.kernel.size(), 1)) add_argument(arguments, "dilation", sizes_text(window.dilations));
    if (groups != 1) add_argument(arguments, "groups", std::to_string(groups));
    if (!has_bias(call)) add_argument(arguments, "bias", "false");
    int made = call.add_before(dimensioned("ConvTranspose", window.kernel.size()), arguments, {call.input(0)}, out);
    add_weight(call.graph, call.step(), "weight", weight);
    if (has_bias(call)) add_weight(call.graph, call.step(), "bias", call.weight(2, 1));
    for (std::size_t i = 0; i < extra.size(); ++i) {
        if (cut_before[i] + cut_after[i] == 0) continue;
        const std::int64_t end = out[i + 2].number - cut_after[i];
        out[i + 2].number = end - cut_before[i];
        made = call.add_before("Slice", std::to_string(i + 2) + ", " + std::to_string(cut_before[i]) + ", " + std::to_string(end), {made}, out);
        call.step().list = {static_cast<std::int64_t>(i) + 2, cut_before[i], end, 1};
    }
    call.give(made);
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

/// Numbers that are a factor times those of the file.
std::function<Numbers(Numbers)> times(double factor, std::function<Numbers(Numbers)> layout) {
    return [=](const Numbers& from) {
        Numbers out = layout ? layout(from) : from;
        for (float& each : out) each = static_cast<float>(factor * static_cast<double>(each));
        return out;
    };
}

void gemm(OperatorCall& call) {
    // Rows of a language model have three dimensions here.
    if (call.node.whole("transA", 0) != 0 || call.rank() > 3) call.fail("its first matrix is transposed");
    linear(call, call.weight(1, 2), call.node.whole("transB", 0) != 0);
    // Linear has no factors: its weights hold them.
    const double alpha = call.node.number("alpha", 1), beta = call.node.number("beta", 1);
    if (alpha != 1) call.step().weights[0].layout = times(alpha, call.step().weights[0].layout);
    if (!call.given(2)) return;
    const int bias = call.weight(2);
    ImportedStep& step = call.step();
    const std::int64_t outputs = step.list[0], count = call.graph.constant(bias).count();
    const Dims& dims = call.graph.constant(bias).dims;
    if (count != 1 && (count != outputs || dims.back() != outputs)) call.fail("its bias is no row");
    ImportedWeight made{"bias", bias, {outputs}, {}};
    if (count != outputs) made.layout = [outputs](const Numbers& from) { return Numbers(static_cast<std::size_t>(outputs), from.at(0)); };
    if (beta != 1) made.layout = times(beta, made.layout);
    step.weights.push_back(std::move(made));
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

/// A number for each channel, of which the file has one for each group.
void add_channel_weight(OperatorCall& call, const std::string& role, int constant) {
    const std::int64_t channels = call.number(call.sizes()[1]), count = call.graph.constant(constant).count();
    if (count < 1 || channels % count != 0) call.fail("its weights do not fit the channels");
    ImportedWeight made{role, constant, {channels}, {}};
    if (const auto each = static_cast<std::size_t>(channels / count); each != 1)
        made.layout = [each](const Numbers& from) {
            Numbers out;
            for (const float number : from) out.insert(out.end(), each, number);
            return out;
        };
    call.step().weights.push_back(std::move(made));
}

void channel_norm(OperatorCall& call) {
    const bool groups = call.node.op == "GroupNormalization";
    const Extents sizes = call.sizes();
    if (sizes.size() < 3 || sizes.size() > 5) call.fail("the input has other dimensions");
    const std::int64_t channels = call.number(sizes[1]), count = call.node.whole("num_groups", 1);
    const int weight = call.weight(1, 1), bias = call.weight(2, 1);
    for (const int each : {weight, bias})
        if (const std::int64_t own = call.graph.constant(each).count(); own != channels && !(groups && own == count)) call.fail("its weights do not fit the channels");
    const std::string eps = eps_text(call);
    const std::string arguments = (groups ? std::to_string(count) : "affine=true") + (eps.empty() ? "" : ", ") + eps;
    // InstanceNorm2d takes pictures: other dimensions become those of one.
    const bool shaped = !groups && sizes.size() != 4;
    Extents picture{sizes[0], sizes[1], {1}, {1}};
    for (std::size_t i = 2; i < sizes.size(); ++i) picture[3].number *= call.number(sizes[i]);
    const int from = shaped ? call.add_view("Reshape", {}, call.input(0), picture) : call.input(0);
    const int out = call.add_before(groups ? "GroupNorm" : "InstanceNorm2d", arguments, {from}, shaped ? picture : sizes);
    add_channel_weight(call, "weight", weight);
    add_channel_weight(call, "bias", bias);
    call.give(shaped ? call.add_view("Reshape", {}, out, sizes) : out);
}

void pool(OperatorCall& call) {
    if (call.node.outputs.size() > 1 && !call.node.outputs[1].empty()) call.fail("its indices are asked for");
    Window window(call, call.node.wholes("kernel_shape"));
    const bool maximum = call.node.op == "MaxPool";
    const bool counts = call.node.whole("count_include_pad", 0) != 0;
    const bool dilated = window.dilations != Dims(window.kernel.size(), 1);
    if (!window.is_even() && (maximum ? dilated || !window.pads_fit() : !counts)) call.fail("its pads differ between the sides");
    // A window that holds copies of the border holds the border too: they never change its maximum.
    const int from = pad_before(call, window, maximum ? "replicate" : nullptr);
    std::string arguments = window.text();
    window.add_to(arguments, window.kernel);
    if (dilated && !maximum) call.fail("it has dilations");
    if (dilated) add_argument(arguments, "dilation", sizes_text(window.dilations));
    if (window.ceil_mode) add_argument(arguments, "ceil_mode", "true");
    if (!maximum && window.is_padded() && !counts) add_argument(arguments, "count_include_pad", "false");
    const Extents in = call.graph.value(from).sizes;
    call.add(dimensioned(maximum ? "MaxPool" : "AvgPool", window.kernel.size()), arguments, {from}, window.output(call, in, call.number(in[1])));
}

/// (sum |x|^p)^(1/p) of each window.
void power_pool(OperatorCall& call) {
    const bool global = call.node.op == "GlobalLpPool";
    Dims kernel = call.node.wholes("kernel_shape");
    if (global) {
        kernel.clear();
        for (std::size_t i = 2; i < call.sizes().size(); ++i) kernel.push_back(call.number(call.sizes()[i]));
    }
    Window window(call, kernel);
    const std::int64_t p = call.node.whole("p", 2);
    if (window.dilations != Dims(kernel.size(), 1)) call.fail("it has dilations");
    if (p < 1 || p > 64) call.fail("p is out of range");
    if (window.ceil_mode && window.is_padded()) call.fail("it has pads and ceil_mode");
    int from = call.input(0);
    Extents sizes = call.sizes();
    if (p % 2 != 0) from = call.add_before("Abs", "", {from}, sizes);
    if (window.is_padded()) {
        std::string sides;
        for (std::size_t i = kernel.size(); i-- > 0;) {
            sides += (sides.empty() ? "" : ", ") + std::to_string(window.before[i]) + ", " + std::to_string(window.after[i]);
            sizes[i + 2].number = call.number(sizes[i + 2]) + window.before[i] + window.after[i];
            window.before[i] = window.after[i] = 0;
        }
        from = call.add_before("Pad", '[' + sides + ']', {from}, sizes);
    }
    std::string arguments = std::to_string(p) + ", " + window.text();
    window.add_to(arguments, window.kernel);
    if (window.ceil_mode) add_argument(arguments, "ceil_mode", "true");
    call.add(dimensioned("LPPool", kernel.size()), arguments, {from}, window.output(call, sizes, call.number(sizes[1])));
}

void global_pool(OperatorCall& call) {
    if (call.rank() < 3 || call.rank() > 5) call.fail("the input has other dimensions");
    Extents out = call.sizes();
    std::fill(out.begin() + 2, out.end(), Extent{1});
    call.add(dimensioned(call.node.op == "GlobalMaxPool" ? "AdaptiveMaxPool" : "AdaptiveAvgPool", static_cast<std::size_t>(call.rank() - 2)), "1", {call.input(0)}, std::move(out));
}

}  // namespace

const std::map<std::string, ReadOperator>& layer_operators() {
    static const std::map<std::string, ReadOperator> all = {
        {"Conv", convolution}, {"ConvTranspose", transposed_convolution}, {"Gemm", gemm}, {"MatMul", matrix_product},
        {"BatchNormalization", batch_norm}, {"LayerNormalization", layer_norm}, {"RMSNormalization", layer_norm},
        {"InstanceNormalization", channel_norm}, {"GroupNormalization", channel_norm}, {"MaxPool", pool}, {"AveragePool", pool}, {"LpPool", power_pool}, {"GlobalLpPool", power_pool},
        {"GlobalAveragePool", global_pool}, {"GlobalMaxPool", global_pool}};
    return all;
}

}  // namespace engine::network
