#include <algorithm>
#include <set>
#include <stdexcept>

#include "engine/base/error.h"
#include "io/file/work_progress.h"
#include "network/from_onnx/operator_call.h"

namespace engine::network {
namespace {

[[noreturn]] void refuse_graph(const Message& what) { throw Error(ErrorCode::data, what, msg("Export the model again.")); }

bool is_ours(const OnnxFile& file) { return file.producer.starts_with("Halftone"); }

/// PyTorch's module of a node; empty: unknown.
std::string module_of(const OnnxFile& file, const OnnxNode& node) {
    // decoder.rnn/LSTM_3: of layers whose tensors do not say it.
    static const std::set<std::string> nameless = {"LSTM", "GRU", "RNN", "Gather"};
    if (const std::size_t end = node.name.rfind('/'); is_ours(file) && nameless.contains(node.op) && end != node.name.npos) return node.name.substr(0, end);
    // ['', 'layer1.0', 'layer1.0.conv1', 'conv2d']: the last one is the operation.
    if (!node.scopes.empty()) {
        std::vector<std::string> parts;
        for (std::size_t from = node.scopes.find('\''); from != node.scopes.npos; from = node.scopes.find('\'', from)) {
            const std::size_t to = node.scopes.find('\'', from + 1);
            if (to == node.scopes.npos) break;
            parts.push_back(node.scopes.substr(from + 1, to - from - 1));
            from = to + 1;
        }
        return parts.size() < 2 ? std::string() : parts[parts.size() - 2];
    }
    // /layer1/layer1.0/conv1/Conv: a part that begins with the one before and a dot replaces it.
    if (!node.name.starts_with('/')) return {};
    std::string out, before;
    for (std::size_t from = 1; from < node.name.size();) {
        const std::size_t to = node.name.find('/', from);
        if (to == node.name.npos) break;
        const std::string part = node.name.substr(from, to - from);
        if (!before.empty() && part.starts_with(before + '.')) out.replace(out.size() - before.size(), before.size(), part);
        else out += (out.empty() ? "" : ".") + part;
        before = part;
        from = to + 1;
    }
    return out;
}

void read_input(ImportedGraph& graph, const OnnxPort& port) {
    const bool whole = port.type == OnnxTensor::i64 || port.type == OnnxTensor::i32;
    ImportedValue made{.sizes = {batch_extent}, .whole = whole};
    if (port.type == 0 || port.dims.empty()) refuse_graph(msg("The input {} of this ONNX model is no tensor of samples.", port.name));
    if (const auto* fixed = std::get_if<std::int64_t>(&port.dims[0]); fixed != nullptr && *fixed > 0) graph.fixed_batch = *fixed;
    for (std::size_t i = 1; i < port.dims.size(); ++i) {
        const auto* size = std::get_if<std::int64_t>(&port.dims[i]);
        const bool known = size != nullptr && *size > 0;
        if (whole && i == 1 && port.dims.size() == 2) {
            made.sizes.push_back({1, Size::Symbol::window});
            if (known) graph.fixed_window = *size;
        } else if (known && *size < size_limit) {
            made.sizes.push_back({*size});
        } else {
            refuse_graph(msg("The size {} of the input {} of this ONNX model is not given: export it for one size.", i, port.name));
        }
    }
    const int value = graph.add_value(std::move(made));
    graph.inputs.push_back(value);
    if (!graph.names.emplace(port.name, value).second) refuse_graph(msg("This ONNX model has the name {} twice.", port.name));
}

/// The state that a model of ours takes, (layers, N, hidden): its recurrent layers carry it.
bool read_state(ImportedGraph& graph, const OnnxPort& port) {
    if (!is_ours(graph.file) || !port.name.starts_with("state_") || port.dims.size() != 3) return false;
    const auto *layers = std::get_if<std::int64_t>(&port.dims[0]), *hidden = std::get_if<std::int64_t>(&port.dims[2]);
    if (layers == nullptr || hidden == nullptr || *layers < 1 || *hidden < 1 || *layers > size_limit || *hidden > size_limit) return false;
    const int value = graph.add_value({.sizes = {{*layers}, batch_extent, {*hidden}}, .form = ImportedValue::Form::carried});
    if (!graph.names.emplace(port.name, value).second) refuse_graph(msg("This ONNX model has the name {} twice.", port.name));
    return true;
}

std::string name_of(const OnnxNode& node) { return node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name; }

void read_node(ImportedGraph& graph, const OnnxNode& node);

void add_tensors(ImportedGraph& graph, const OnnxBody& from) {
    if (from.sparse > 0) refuse_graph(msg("This ONNX model has sparse tensors, which are not read."));
    for (const OnnxTensor& tensor : from.tensors) {
        if (!tensor.is_real() && !tensor.is_whole()) refuse_graph(msg("{} of this ONNX model has a type that is not read.", tensor.name));
        const int value = graph.add_constant({.name = tensor.name, .dims = tensor.dims, .real = tensor.is_real(), .tensor = &tensor});
        if (!graph.names.emplace(tensor.name, value).second) refuse_graph(msg("This ONNX model has the name {} twice.", tensor.name));
    }
}

/// If with a condition that is known: the nodes of its branch stand in its place.
void read_branch(ImportedGraph& graph, const OnnxNode& node) {
    const int condition = node.inputs.size() == 1 ? graph.names.at(node.inputs[0]) : -1;
    const auto known = condition < 0 ? std::nullopt : graph.scalar(condition);
    if (!known) throw CannotRead{"its condition follows from the input"};
    const auto found = node.attributes.find(*known != 0 ? "then_branch" : "else_branch");
    if (found == node.attributes.end() || !found->second.graph || found->second.graph->outputs.size() != node.outputs.size()) throw CannotRead{"its branch has other outputs"};
    const OnnxBody& branch = *found->second.graph;
    add_tensors(graph, branch);
    for (const OnnxNode& each : branch.nodes) read_node(graph, each);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const auto value = graph.names.find(branch.outputs[i].name);
        if (value == graph.names.end()) throw CannotRead{"its branch has other outputs"};
        if (!node.outputs[i].empty()) graph.names[node.outputs[i]] = value->second;
    }
    ++graph.folded;
    // Names of the branch are its own.
    for (const OnnxTensor& each : branch.tensors) graph.names.erase(each.name);
    for (const OnnxNode& each : branch.nodes)
        for (const std::string& output : each.outputs) graph.names.erase(output);
}

void read_node(ImportedGraph& graph, const OnnxNode& node) {
    for (const std::string& output : node.outputs)
        if (!output.empty() && !graph.names.emplace(output, -1).second) refuse_graph(msg("This ONNX model has the name {} twice.", output));
    for (const std::string& input : node.inputs) {
        if (input.empty()) continue;
        const auto found = graph.names.find(input);
        if (found == graph.names.end() || std::ranges::find(node.outputs, input) != node.outputs.end())
            refuse_graph(msg("{} of this ONNX model takes {}, which nothing gives before it.", node.name.empty() ? node.op : node.name, input));
        if (found->second < 0) return;  // it follows from a refused node, or from an output that is not read
    }
    const std::size_t first = graph.steps.size();
    const std::string op = node.domain.empty() ? node.op : node.domain + "::" + node.op;
    try {
        if (node.domain.empty() && node.op == "If") return read_branch(graph, node);
        OperatorCall call(graph, node);
        if (node.domain.empty() && fold(call)) return;
        const ReadOperator read = node.domain.empty() ? find_onnx_operator(node.op) : nullptr;
        if (read == nullptr) throw CannotRead{"no layer for it here"};
        read(call);
    } catch (const CannotRead& cannot) {
        graph.refused[op + ": " + cannot.why].push_back(name_of(node));
    } catch (const std::out_of_range&) {
        graph.refused[op + ": its inputs do not fit each other"].push_back(name_of(node));
    }
    const std::string module = module_of(graph.file, node);
    for (std::size_t i = first; i < graph.steps.size(); ++i) graph.steps[i].module = module;
}

}  // namespace

ReadOperator find_onnx_operator(const std::string& op) {
    for (const auto* table : {&layer_operators(), &recurrent_operators(), &attention_operators(), &shape_operators(), &reduction_operators(), &elementwise_operators()})
        if (const auto found = table->find(op); found != table->end()) return found->second;
    return nullptr;
}

void read_graph(ImportedGraph& graph) {
    const OnnxFile& file = graph.file;
    constexpr std::int64_t oldest = 9, newest = 28;
    if (file.opset < oldest || file.opset > newest)
        throw Error(ErrorCode::data, msg("This ONNX model has opset {}; 9 to 28 are read.", file.opset), msg("Export it with opset_version=18."));
    add_tensors(graph, file);
    if (!file.functions.empty()) graph.inlined = inline_functions(file);
    for (const OnnxPort& port : file.inputs)
        if (!graph.names.contains(port.name) && !read_state(graph, port)) read_input(graph, port);  // old files list weights too
    for (const OnnxNode& node : file.functions.empty() ? file.nodes : graph.inlined) poll_work(), read_node(graph, node);
    for (const OnnxPort& port : file.outputs) {
        const auto found = graph.names.find(port.name);
        if (found == graph.names.end()) refuse_graph(msg("{} of this ONNX model takes {}, which nothing gives before it.", "output", port.name));
        if (is_ours(file) && port.name.starts_with("next_state_")) continue;
        if (found->second >= 0) graph.outputs.push_back(found->second);
        else if (graph.refused.empty() && graph.outputs.empty()) graph.refused["output: it follows from a layer's further output, such as a mask"].push_back(port.name);
    }
}

}  // namespace engine::network
