#include "network/pytorch_forms.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"

namespace engine::network {
namespace {

/// A layer with the shapes around it.
struct PytorchLayer {
    const NetworkGraph& graph;
    const GraphNode& node;

    const std::string& name() const { return node.kind->name; }
    const Sizes& sizes(std::size_t input = 0) const { return graph.values[static_cast<std::size_t>(node.inputs[input])].type.sizes; }
    const TensorType& type() const { return graph.values[static_cast<std::size_t>(node.inputs.front())].type; }
    const Sizes& output() const { return graph.values[static_cast<std::size_t>(node.outputs.front())].type.sizes; }
    int rank() const { return static_cast<int>(sizes().size()); }
    std::int64_t size(int dim) const { return sizes()[static_cast<std::size_t>(dim)].number; }

    std::int64_t whole(const char* argument) const { return node.arguments.whole(argument); }
    const std::vector<std::int64_t>& list(const char* argument) const { return node.arguments.list(argument); }
    bool flag(const char* argument) const { return node.arguments.flag(argument); }
    const std::string& word(const char* argument) const { return node.arguments.word(argument); }
    bool has(const char* argument) const { return node.arguments.all.contains(argument); }
};

std::string number_text(double number) {
    std::string text = shortest_text(number);
    return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}

std::string truth_text(bool truth) { return truth ? "True" : "False"; }

/// "3" where all sizes are equal, else "(3, 5)".
std::string sizes_text(const std::vector<std::int64_t>& sizes) {
    if (sizes.empty()) return "()";
    if (std::ranges::adjacent_find(sizes, std::ranges::not_equal_to{}) == sizes.end()) return std::to_string(sizes.front());
    return '(' + join(sizes) + ')';
}

std::string tuple_text(const std::vector<std::int64_t>& items) {
    return items.size() == 1 ? '(' + std::to_string(items.front()) + ",)" : '(' + join(items) + ')';
}

Python slot(const char* name, std::int64_t number) { return python_slot(name, std::to_string(number)); }
Python named(const char* name, std::string text, std::string usual = {}) { return python_named(name, python_slot(name, std::move(text)), std::move(usual)); }

/// A call "callee({0}, ...)" with the inputs first.
Python function(std::string callee, const PytorchLayer& layer, std::vector<Python> more = {}) {
    std::vector<Python> items;
    for (std::size_t i = 0; i < layer.node.inputs.size(); ++i) items.emplace_back('{' + std::to_string(i) + '}');
    items.insert(items.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    return python_call(std::move(callee), std::move(items));
}

/// "{0}, {1}" with `between` between them.
std::string inputs_text(const PytorchLayer& layer, const char* between) {
    std::string text;
    for (std::size_t i = 0; i < layer.node.inputs.size(); ++i) text += (i == 0 ? "" : between) + ('{' + std::to_string(i) + '}');
    return text;
}

PytorchForm method(const char* name, std::vector<Python> items) {
    return {.function = python_call(std::string("{0}.") + name, std::move(items))};
}

// Weights.

PytorchForm linear_form(const PytorchLayer& layer) {
    return {.module = python_call("nn.Linear", {slot("in_features", layer.size(layer.rank() - 1)), slot("out_features", layer.whole("out_features")),
                                                named("bias", truth_text(layer.flag("bias")), "True")})};
}

PytorchForm convolution_form(const PytorchLayer& layer) {
    const bool transposed = layer.has("output_padding");
    std::vector<Python> items = {slot("in_channels", layer.size(1)), slot("out_channels", layer.whole("out_channels")),
                                 python_slot("kernel_size", sizes_text(layer.list("kernel_size")))};
    const auto& padding = layer.list("padding");
    items.push_back(named("stride", sizes_text(layer.list("stride")), "1"));
    items.push_back(named("padding", padding.empty() ? "\"same\"" : sizes_text(padding), "0"));
    if (transposed) items.push_back(named("output_padding", sizes_text(layer.list("output_padding")), "0"));
    items.push_back(named("dilation", sizes_text(layer.list("dilation")), "1"));
    items.push_back(named("groups", std::to_string(layer.whole("groups")), "1"));
    items.push_back(named("bias", truth_text(layer.flag("bias")), "True"));
    if (!transposed) items.push_back(named("padding_mode", python_string(layer.word("padding_mode")), "\"zeros\""));
    return {.module = python_call("nn." + layer.name(), std::move(items))};
}

PytorchForm channel_norm_form(const PytorchLayer& layer) {
    const bool batch = layer.has("momentum");
    std::vector<Python> items = {slot("num_features", layer.size(1)), named("eps", number_text(layer.node.arguments.number("eps")), "1e-05")};
    if (batch) items.push_back(named("momentum", number_text(layer.node.arguments.number("momentum")), "0.1"));
    items.push_back(named("affine", truth_text(layer.flag("affine")), batch ? "True" : "False"));
    return {.module = python_call("nn." + layer.name(), std::move(items))};
}

PytorchForm last_norm_form(const PytorchLayer& layer) {
    std::vector<std::int64_t> sizes;
    for (int dim = layer.rank() - static_cast<int>(layer.whole("dims")); dim < layer.rank(); ++dim) sizes.push_back(layer.size(dim));
    const std::string shape = sizes.size() == 1 ? std::to_string(sizes.front()) : tuple_text(sizes);
    // RMSNorm's default of PyTorch depends on the type of its input.
    std::vector<Python> items = {python_slot("normalized_shape", shape), named("eps", number_text(layer.node.arguments.number("eps")), layer.has("bias") ? "1e-05" : "")};
    if (layer.has("bias")) items.push_back(named("bias", truth_text(layer.flag("bias")), "True"));
    return {.module = python_call("nn." + layer.name(), std::move(items))};
}

PytorchForm group_norm_form(const PytorchLayer& layer) {
    return {.module = python_call("nn.GroupNorm", {slot("num_groups", layer.whole("num_groups")), slot("num_channels", layer.size(1)),
                                                   named("eps", number_text(layer.node.arguments.number("eps")), "1e-05")})};
}

PytorchForm prelu_form(const PytorchLayer& layer) {
    return {.module = python_call("nn.PReLU", {named("num_parameters", std::to_string(layer.whole("num_parameters")), "1")})};
}

PytorchForm embedding_form(const PytorchLayer& layer) {
    return {.module = python_call("nn.Embedding", {slot("num_embeddings", std::ranges::max(layer.type().counts)), slot("embedding_dim", layer.whole("embedding_dim"))})};
}

PytorchForm embedding_bag_form(const PytorchLayer& layer) {
    return {.module = python_call("nn.EmbeddingBag", {slot("num_embeddings", std::ranges::max(layer.type().counts)), slot("embedding_dim", layer.whole("embedding_dim")),
                                                      named("mode", python_string(layer.word("mode")), "\"mean\"")})};
}

PytorchForm embedding_tables_form(const PytorchLayer& layer) {
    const auto& counts = layer.type().counts;
    const auto columns = static_cast<std::size_t>(layer.size(1));
    Python rows;
    if (std::ranges::adjacent_find(counts, std::ranges::not_equal_to{}) == counts.end()) {
        rows = python_slot("rows", '[' + std::to_string(counts.front()) + "] * " + std::to_string(columns));
    } else {
        std::vector<Python> items;
        for (const std::int64_t count : counts) items.emplace_back(std::to_string(count));
        rows = python_list(std::move(items));
    }
    return {.module = python_call("EmbeddingTables", {std::move(rows), slot("width", layer.whole("embedding_dim"))}), .helpers = {"EmbeddingTables"}};
}

PytorchForm positions_form(const PytorchLayer& layer) {
    return {.module = python_call("Positions", {slot("context", layer.whole("context")), slot("width", layer.size(2))}), .helpers = {"Positions"}};
}

/// The rule for a tensor with fewer than two dimensions, for which torch.nn.init has no fans: both are its size.
InitialRule without_fans(const InitialRule& rule, double size) {
    const bool kaiming = !rule.words.empty();
    if (!kaiming && !rule.rule.starts_with("xavier")) return rule;
    const double variance = (kaiming && rule.words[1] == "relu" ? 2 : 1) / size;
    if (rule.rule.ends_with("uniform")) return {"uniform", {std::sqrt(3 * variance)}, {}};
    return {"normal", {std::sqrt(variance)}, {}};
}

/// A tensor with the rule's values, as torch.nn.init draws them.
Python initial_values(const InitialRule& rule, std::vector<Python> sizes) {
    const auto number = [&](const char* name, double value) { return python_slot(name, number_text(value)); };
    if (rule.rule == "zeros" || rule.rule == "ones") {
        if (sizes.empty()) sizes.emplace_back("()");
        return python_call("torch." + rule.rule, std::move(sizes));
    }
    if (rule.rule == "constant") return python_call("torch.full", {python_list(std::move(sizes)), number("value", rule.numbers[0])});
    if (sizes.empty()) sizes.emplace_back("()");
    if (rule.rule == "orthogonal" && sizes.size() == 1) return python_call("F.normalize", {python_call("torch.randn", std::move(sizes)), python_named("dim", "0")});
    std::vector<Python> items = {python_call("torch.empty", std::move(sizes))};
    if (rule.rule == "uniform") {
        items.push_back(number("low", -rule.numbers[0]));
        items.push_back(number("high", rule.numbers[0]));
    } else if (!rule.numbers.empty()) {
        items.push_back(python_named("std", number("std", rule.numbers[0])));
    } else if (!rule.words.empty()) {
        items.push_back(python_named("mode", python_string(rule.words[0])));
        items.push_back(python_named("nonlinearity", python_string(rule.words[1])));
    }
    return python_call("nn.init." + rule.rule + '_', std::move(items));
}

PytorchForm bare_form(const PytorchLayer& layer) {
    std::vector<Python> sizes;
    for (const std::int64_t each : layer.list("sizes")) sizes.push_back(slot("size", each));
    const GraphParameter& parameter = layer.graph.parameters[static_cast<std::size_t>(layer.node.parameters.front())];
    const bool has_fans = sizes.size() > 1;
    Python values = initial_values(has_fans ? parameter.initial : without_fans(parameter.initial, parameter.sizes.empty() ? 1 : static_cast<double>(parameter.sizes.front())), std::move(sizes));
    if (layer.name() == "Buffer") return {.module = std::move(values)};
    return {.module = python_call("nn.Parameter", {std::move(values)})};
}

PytorchForm constant_form(const PytorchLayer& layer) {
    return {.function = python_call("torch.tensor", {python_slot("value", number_text(layer.node.arguments.number("value")))})};
}

// Sequences.

PytorchForm recurrent_form(const PytorchLayer& layer) {
    const bool both = layer.flag("bidirectional"), carry = layer.flag("carry"), cell = layer.name() == "LSTM";
    std::vector<Python> items = {slot("input_size", layer.size(2)), slot("hidden_size", layer.whole("hidden_size")),
                                 named("num_layers", std::to_string(layer.whole("num_layers")), "1"), named("bias", truth_text(layer.flag("bias")), "True"),
                                 python_named("batch_first", "True"), named("dropout", number_text(layer.node.arguments.number("dropout")), "0.0"),
                                 named("bidirectional", truth_text(both), "False")};
    PytorchForm form{.module = python_call((carry ? "Carry" : "nn.") + layer.name(), std::move(items)), .gives_pair = true};
    for (const std::string& state : cell ? std::vector<std::string>{"{s}[0]", "{s}[1]"} : std::vector<std::string>{"{s}"})
        form.further.push_back(both ? "torch.cat((" + state + "[-2], " + state + "[-1]), 1)" : state + "[-1]");
    if (carry) form.helpers = {"Carry" + layer.name()};
    return form;
}

PytorchForm multihead_attention_form(const PytorchLayer& layer) {
    const bool masked = layer.node.arguments.given("mask"), one = layer.node.inputs.size() == (masked ? 2 : 1);
    std::vector<Python> items = one ? std::vector<Python>{"{0}", "{0}", "{0}"} : std::vector<Python>{"{0}", "{1}", "{2}"};
    if (masked) items.push_back(python_named("attn_mask", one ? "mask_of_heads({1}, {0}, {0}, {m}.num_heads)" : "mask_of_heads({3}, {0}, {1}, {m}.num_heads)"));
    if (layer.flag("causal")) items.push_back(python_named("attn_mask", one ? "causal_mask({0}, {0})" : "causal_mask({0}, {1})"));
    items.push_back(python_named("need_weights", "False"));
    PytorchForm form{.module = python_call("nn.MultiheadAttention", {slot("embed_dim", layer.size(2)), slot("num_heads", layer.whole("num_heads")),
                                                                     named("dropout", number_text(layer.node.arguments.number("dropout")), "0.0"),
                                                                     python_named("batch_first", "True")}),
                     .run = python_call("{m}", std::move(items)),
                     .gives_pair = true};
    if (layer.flag("causal")) form.helpers = {"causal_mask"};
    if (masked) form.helpers = {"mask_of_heads"};
    return form;
}

PytorchForm attention_form(const PytorchLayer& layer) {
    const bool masked = layer.node.arguments.given("mask"), one = layer.node.inputs.size() == (masked ? 2 : 1);
    std::vector<Python> items = one ? std::vector<Python>{"{0}", "{0}", "{0}"} : std::vector<Python>{"{0}", "{1}", "{2}"};
    items.push_back(slot("num_heads", layer.whole("num_heads")));
    items.push_back(python_slot("causal", truth_text(layer.flag("causal"))));
    if (masked) items.push_back(python_named("mask", one ? "{1}" : "{3}"));
    return {.function = python_call("attention", std::move(items)), .helpers = {"attention"}};
}

PytorchForm rotary_form(const PytorchLayer& layer) {
    return {.function = python_call("rotary", {"{0}", python_slot("base", number_text(layer.node.arguments.number("base")))}), .helpers = {"rotary"}};
}

// One value, element by element.

/// `class_name` of nn, and a function with the same arguments.
PytorchForm both_forms(const PytorchLayer& layer, const std::string& class_name, std::string function_name, std::vector<Python> items = {}) {
    return {.module = python_call("nn." + class_name, items), .function = function(std::move(function_name), layer, std::move(items))};
}

std::string activation_function(const std::string& activation) {
    static const std::map<std::string, std::string, std::less<>> names = {
        {"ReLU", "F.relu"}, {"GELU", "F.gelu"}, {"SiLU", "F.silu"}, {"Sigmoid", "torch.sigmoid"}, {"Tanh", "torch.tanh"},
        {"LeakyReLU", "F.leaky_relu"}, {"ELU", "F.elu"}, {"SELU", "F.selu"}, {"CELU", "F.celu"}, {"Hardswish", "F.hardswish"},
        {"Hardsigmoid", "F.hardsigmoid"}, {"ReLU6", "F.relu6"}, {"Mish", "F.mish"}, {"Softplus", "F.softplus"},
        {"Softsign", "F.softsign"}, {"LogSigmoid", "F.logsigmoid"}};
    return names.at(activation);
}

PytorchForm activation_form(const PytorchLayer& layer) {
    std::vector<Python> items;
    if (layer.has("approximate")) items.push_back(named("approximate", python_string(layer.word("approximate")), "\"none\""));
    if (layer.has("negative_slope")) items.push_back(named("negative_slope", number_text(layer.node.arguments.number("negative_slope")), "0.01"));
    return both_forms(layer, layer.name(), activation_function(layer.name()), std::move(items));
}

PytorchForm named_activation_form(const PytorchLayer& layer) {
    static const std::map<std::string, std::string, std::less<>> kinds = {
        {"relu", "ReLU"}, {"gelu", "GELU"}, {"silu", "SiLU"}, {"sigmoid", "Sigmoid"}, {"tanh", "Tanh"}, {"leaky_relu", "LeakyReLU"},
        {"elu", "ELU"}, {"selu", "SELU"}, {"celu", "CELU"}, {"hardswish", "Hardswish"}, {"hardsigmoid", "Hardsigmoid"},
        {"relu6", "ReLU6"}, {"mish", "Mish"}, {"softplus", "Softplus"}, {"softsign", "Softsign"}, {"log_sigmoid", "LogSigmoid"}};
    const std::string& kind = kinds.at(layer.word("word"));
    return both_forms(layer, kind, activation_function(kind));
}

PytorchForm softmax_form(const PytorchLayer& layer) {
    return both_forms(layer, layer.name(), layer.name() == "Softmax" ? "F.softmax" : "F.log_softmax", {named("dim", std::to_string(layer.whole("dim")))});
}

PytorchForm identity_form(const PytorchLayer&) { return {.module = python_call("nn.Identity", {}), .function = Python("{0}")}; }

PytorchForm dropout_form(const PytorchLayer& layer) {
    const Python share = python_slot("p", number_text(layer.node.arguments.number("p")));
    if (layer.name() == "DropPath")
        return {.module = python_call("DropPath", {share}), .function = python_call("drop_path", {"{0}", share, "self.training"}), .helpers = {"drop_path", "DropPath"}};
    const std::string name = layer.name() == "Dropout" ? "F.dropout" : "F.dropout" + layer.name().substr(7);
    return {.module = python_call("nn." + layer.name(), {share}), .function = python_call(name, {"{0}", share, "self.training"})};
}

PytorchForm scale_form(const PytorchLayer& layer) { return {.function = python_call("torch.mul", {"{0}", python_slot("factor", number_text(layer.node.arguments.number("a")))})}; }

PytorchForm elementwise_form(const PytorchLayer& layer) {
    static const std::map<std::string, const char*, std::less<>> names = {{"Abs", "abs"}, {"Square", "square"}, {"Sqrt", "sqrt"}, {"Exp", "exp"}, {"Log", "log"}};
    return method(names.at(layer.name()), {});
}

PytorchForm clamp_form(const PytorchLayer& layer) {
    return method("clamp", {python_slot("min", number_text(layer.node.arguments.number("min"))), python_slot("max", number_text(layer.node.arguments.number("max")))});
}

PytorchForm reduction_form(const PytorchLayer& layer) {
    const char* name = layer.name() == "Mean" ? "mean" : layer.name() == "Sum" ? "sum" : "amax";
    const auto& dims = layer.list("dims");
    return method(name, {python_slot("dim", dims.size() == 1 ? std::to_string(dims.front()) : tuple_text(dims)), named("keepdim", truth_text(layer.flag("keepdim")), "False")});
}

PytorchForm normalize_form(const PytorchLayer& layer) { return {.function = function("F.normalize", layer, {named("dim", std::to_string(layer.whole("dim")))})}; }

// Shapes.

PytorchForm flatten_form(const PytorchLayer& layer) {
    const Python start = slot("start_dim", layer.whole("start_dim"));
    const Python end = named("end_dim", std::to_string(layer.whole("end_dim")), "-1");
    return {.module = python_call("nn.Flatten", {python_named("start_dim", start, "1"), end}), .function = python_call("torch.flatten", {"{0}", start, end})};
}

PytorchForm unflatten_form(const PytorchLayer& layer) {
    const std::vector<Python> items = {slot("dim", layer.whole("dim")), python_slot("sizes", tuple_text(layer.list("sizes")))};
    return {.module = python_call("nn.Unflatten", items), .function = python_call("{0}.unflatten", items)};
}

PytorchForm reshape_form(const PytorchLayer& layer) {
    std::vector<Python> items = {"{0}.size(0)"};
    for (const std::int64_t size : layer.list("sizes")) items.push_back(slot("size", size));
    return method("reshape", std::move(items));
}

PytorchForm dims_form(const PytorchLayer& layer) {
    std::vector<Python> items;
    for (const std::int64_t dim : layer.list("dims")) items.push_back(slot("dim", dim));
    return method(layer.name() == "Permute" ? "permute" : "flip", std::move(items));
}

PytorchForm transpose_form(const PytorchLayer& layer) { return method("transpose", {slot("dim0", layer.whole("dim0")), slot("dim1", layer.whole("dim1"))}); }
PytorchForm squeeze_form(const PytorchLayer& layer) { return method("squeeze", {slot("dim", layer.whole("dim"))}); }
PytorchForm unsqueeze_form(const PytorchLayer& layer) { return method("unsqueeze", {slot("dim", layer.whole("dim"))}); }
PytorchForm select_form(const PytorchLayer& layer) { return method("select", {slot("dim", layer.whole("dim")), slot("index", layer.whole("index"))}); }

PytorchForm slice_form(const PytorchLayer& layer) {
    std::int64_t dim = layer.whole("dim");
    if (dim < 0) dim += layer.rank();
    std::vector<Python> items = {slot("start", layer.whole("start")), slot("end", layer.whole("end"))};
    if (layer.whole("step") != 1) items.push_back(slot("step", layer.whole("step")));
    Python part("{0}");
    part.open = '[';
    part.items.assign(static_cast<std::size_t>(dim), ":");
    part.items.push_back(python_call("slice", std::move(items)));
    return {.function = std::move(part)};
}

PytorchForm split_form(const PytorchLayer& layer) {
    std::int64_t dim = layer.whole("dim");
    if (dim < 0) dim += layer.rank();
    const std::int64_t length = layer.size(static_cast<int>(dim)) / layer.whole("n");
    return method("narrow", {slot("dim", dim), slot("start", length * layer.whole("i")), slot("length", length)});
}

PytorchForm roll_form(const PytorchLayer& layer) {
    return method("roll", {python_slot("shifts", tuple_text(layer.list("shifts"))), python_slot("dims", tuple_text(layer.list("dims")))});
}

PytorchForm pool_form(const PytorchLayer& layer) {
    std::vector<Python> items;
    const bool power = layer.has("norm_type");
    if (power) items.push_back(python_slot("norm_type", number_text(layer.node.arguments.number("norm_type"))));
    const std::string kernel = sizes_text(layer.list("kernel_size"));
    items.push_back(python_slot("kernel_size", kernel));
    items.push_back(named("stride", layer.node.arguments.given("stride") ? sizes_text(layer.list("stride")) : kernel, kernel));
    if (layer.has("padding")) items.push_back(named("padding", sizes_text(layer.list("padding")), "0"));
    if (layer.has("dilation")) items.push_back(named("dilation", sizes_text(layer.list("dilation")), "1"));
    items.push_back(named("ceil_mode", truth_text(layer.flag("ceil_mode")), "False"));
    if (layer.has("count_include_pad")) items.push_back(named("count_include_pad", truth_text(layer.flag("count_include_pad")), "True"));
    const char* name = power ? "F.lp_pool" : layer.has("dilation") ? "F.max_pool" : "F.avg_pool";
    return both_forms(layer, layer.name(), name + std::to_string(layer.node.kind->dimensions) + 'd', std::move(items));
}

PytorchForm adaptive_form(const PytorchLayer& layer) {
    const char* name = layer.name().starts_with("AdaptiveMax") ? "F.adaptive_max_pool" : "F.adaptive_avg_pool";
    return both_forms(layer, layer.name(), name + std::to_string(layer.node.kind->dimensions) + 'd', {python_slot("output_size", sizes_text(layer.list("output_size")))});
}

PytorchForm upsample_form(const PytorchLayer& layer) {
    const std::vector<Python> items = {named("scale_factor", number_text(layer.node.arguments.number("scale_factor"))), named("mode", python_string(layer.word("mode")), "\"nearest\"")};
    return both_forms(layer, "Upsample", "F.interpolate", items);
}

PytorchForm pixel_shuffle_form(const PytorchLayer& layer) {
    const bool back = layer.name() == "PixelUnshuffle";
    const char* argument = back ? "downscale_factor" : "upscale_factor";
    return both_forms(layer, layer.name(), back ? "F.pixel_unshuffle" : "F.pixel_shuffle", {slot(argument, layer.whole(argument))});
}

PytorchForm pad_form(const PytorchLayer& layer) {
    std::vector<std::int64_t> sides = layer.list("sizes");
    const auto spatial = static_cast<std::size_t>(layer.rank() - 2);
    if (sides.size() == 1) sides.assign(2 * spatial, sides.front());
    const std::string& mode = layer.word("mode");
    if (mode != "zeros") sides.resize(2 * spatial, 0);  // PyTorch's other modes take all of them
    return {.function = function("F.pad", layer, {python_slot("pad", tuple_text(sides)), named("mode", mode == "zeros" ? "\"constant\"" : python_string(mode), "\"constant\"")})};
}

// Merges.

PytorchForm sum_form(const PytorchLayer& layer) {
    static const std::map<std::string, const char*, std::less<>> signs = {{"Add", " + "}, {"Sub", " - "}, {"Mul", " * "}, {"Div", " / "}, {"MatMul", " @ "}};
    return {.function = Python(inputs_text(layer, signs.at(layer.name())))};
}

PytorchForm extremum_form(const PytorchLayer& layer) {
    const std::string name = layer.name() == "Maximum" ? "torch.maximum" : "torch.minimum";
    Python all("{0}");
    for (std::size_t i = 1; i < layer.node.inputs.size(); ++i) all = python_call(name, {std::move(all), '{' + std::to_string(i) + '}'});
    return {.function = std::move(all)};
}

/// Inputs whose sizes of 1 are expanded, but along `joined`, from the end; 0: along none.
Python expanded_inputs(const PytorchLayer& layer, std::size_t joined) {
    std::size_t rank = 0;
    for (std::size_t i = 0; i < layer.node.inputs.size(); ++i) rank = std::max(rank, layer.sizes(i).size());
    std::vector<Python> items;
    for (std::size_t i = 0; i < layer.node.inputs.size(); ++i) {
        const Sizes& own = layer.sizes(i);
        std::vector<Python> sizes;
        bool expands = false;
        for (std::size_t at = rank; at >= 1; --at) {
            std::string text = at <= own.size() ? "-1" : "1";
            if (at != joined) {
                // The first input that has another size here gives it.
                for (std::size_t other = 0; other < layer.node.inputs.size(); ++other) {
                    const Sizes& sizes_there = layer.sizes(other);
                    if (at > sizes_there.size() || sizes_there[sizes_there.size() - at] == Size{1, Size::Symbol::none}) continue;
                    if (at <= own.size() && own[own.size() - at] == sizes_there[sizes_there.size() - at]) break;
                    text = '{' + std::to_string(other) + "}.size(" + std::to_string(sizes_there.size() - at) + ')';
                    break;
                }
            }
            expands = expands || text != "-1";
            sizes.emplace_back(std::move(text));
        }
        const std::string input = '{' + std::to_string(i) + '}';
        items.push_back(expands ? python_call(input + ".expand", std::move(sizes)) : Python(input));
    }
    return python_call({}, std::move(items));
}

PytorchForm concat_form(const PytorchLayer& layer) {
    const std::int64_t rank = static_cast<std::int64_t>(layer.output().size()), dim = layer.whole("dim");
    return {.function = python_call("torch.cat", {expanded_inputs(layer, static_cast<std::size_t>(dim < 0 ? -dim : rank - dim)), named("dim", std::to_string(dim))})};
}

PytorchForm stack_form(const PytorchLayer& layer) {
    return {.function = python_call("torch.stack", {expanded_inputs(layer, 0), named("dim", std::to_string(layer.whole("dim")))})};
}

PytorchForm where_form(const PytorchLayer&) { return {.function = python_call("torch.where", {"{0} != 0", "{1}", "{2}"})}; }

PytorchForm cosine_similarity_form(const PytorchLayer& layer) { return {.function = function("F.cosine_similarity", layer, {named("dim", std::to_string(layer.whole("dim")), "1")})}; }

using FormMaker = PytorchForm (*)(const PytorchLayer&);

const std::map<std::string, FormMaker, std::less<>>& form_makers() {
    static const std::map<std::string, FormMaker, std::less<>> makers = {
        {"Linear", linear_form}, {"Conv1d", convolution_form}, {"Conv2d", convolution_form}, {"Conv3d", convolution_form},
        {"ConvTranspose1d", convolution_form}, {"ConvTranspose2d", convolution_form}, {"ConvTranspose3d", convolution_form},
        {"BatchNorm1d", channel_norm_form}, {"BatchNorm2d", channel_norm_form}, {"BatchNorm3d", channel_norm_form},
        {"InstanceNorm2d", channel_norm_form}, {"LayerNorm", last_norm_form}, {"RMSNorm", last_norm_form}, {"GroupNorm", group_norm_form},
        {"PReLU", prelu_form}, {"ReLU", activation_form}, {"GELU", activation_form}, {"SiLU", activation_form},
        {"Sigmoid", activation_form}, {"Tanh", activation_form}, {"LeakyReLU", activation_form}, {"ELU", activation_form},
        {"SELU", activation_form}, {"CELU", activation_form}, {"Hardswish", activation_form}, {"Hardsigmoid", activation_form},
        {"ReLU6", activation_form}, {"Mish", activation_form}, {"Softplus", activation_form}, {"Softsign", activation_form},
        {"LogSigmoid", activation_form}, {"Softmax", softmax_form}, {"LogSoftmax", softmax_form}, {"Activation", named_activation_form},
        {"Identity", identity_form}, {"MaxPool1d", pool_form}, {"MaxPool2d", pool_form}, {"MaxPool3d", pool_form},
        {"AvgPool1d", pool_form}, {"AvgPool2d", pool_form}, {"AvgPool3d", pool_form}, {"LPPool1d", pool_form}, {"LPPool2d", pool_form}, {"LPPool3d", pool_form},
        {"AdaptiveAvgPool1d", adaptive_form}, {"AdaptiveAvgPool2d", adaptive_form}, {"AdaptiveAvgPool3d", adaptive_form},
        {"AdaptiveMaxPool1d", adaptive_form}, {"AdaptiveMaxPool2d", adaptive_form}, {"AdaptiveMaxPool3d", adaptive_form},
        {"Dropout", dropout_form}, {"Dropout1d", dropout_form}, {"Dropout2d", dropout_form}, {"Dropout3d", dropout_form},
        {"DropPath", dropout_form}, {"Flatten", flatten_form}, {"Unflatten", unflatten_form}, {"Reshape", reshape_form},
        {"Permute", dims_form}, {"Flip", dims_form}, {"Transpose", transpose_form}, {"Squeeze", squeeze_form}, {"Unsqueeze", unsqueeze_form},
        {"Select", select_form}, {"Slice", slice_form}, {"Split", split_form}, {"Roll", roll_form}, {"Upsample", upsample_form},
        {"PixelShuffle", pixel_shuffle_form}, {"PixelUnshuffle", pixel_shuffle_form}, {"Pad", pad_form}, {"Embedding", embedding_form},
        {"EmbeddingTables", embedding_tables_form}, {"EmbeddingBag", embedding_bag_form}, {"Positions", positions_form}, {"RNN", recurrent_form}, {"GRU", recurrent_form},
        {"LSTM", recurrent_form}, {"MultiheadAttention", multihead_attention_form}, {"Attention", attention_form}, {"Rotary", rotary_form},
        {"Parameter", bare_form}, {"Buffer", bare_form}, {"Constant", constant_form}, {"Scale", scale_form}, {"Abs", elementwise_form},
        {"Square", elementwise_form}, {"Sqrt", elementwise_form}, {"Exp", elementwise_form}, {"Log", elementwise_form}, {"Clamp", clamp_form},
        {"Mean", reduction_form}, {"Sum", reduction_form}, {"Max", reduction_form}, {"Normalize", normalize_form},
        {"CosineSimilarity", cosine_similarity_form}, {"Add", sum_form}, {"Sub", sum_form}, {"Mul", sum_form}, {"Div", sum_form},
        {"MatMul", sum_form}, {"Maximum", extremum_form}, {"Minimum", extremum_form}, {"Concat", concat_form}, {"Stack", stack_form}, {"Where", where_form}};
    return makers;
}

}  // namespace

bool has_pytorch_form(const LayerKind& kind) { return form_makers().contains(kind.name); }

PytorchForm pytorch_form(const NetworkGraph& graph, const GraphNode& node) {
    const auto found = form_makers().find(node.kind->name);
    if (found == form_makers().end())
        throw Error(ErrorCode::settings, msg("Line {}: {} cannot be written for PyTorch yet.", node.place.line, node.kind->name));
    return found->second({graph, node});
}

}  // namespace engine::network
