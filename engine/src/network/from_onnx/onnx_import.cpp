#include "engine/network/onnx_import.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/network/network_exports.h"
#include "io/file/work_progress.h"
#include "io/safetensors/safetensors.h"
#include "network/from_onnx/imported_graph.h"
#include "network/initial.h"

namespace engine {
namespace {

using namespace network;

/// One list of all operators that are not read.
void check_refused(const ImportedGraph& graph) {
    if (graph.refused.empty()) return;
    std::string list;
    std::size_t nodes = 0;
    std::vector<UnreadOperator> all;
    for (const auto& [what, names] : graph.refused) {
        constexpr std::size_t shown = 3;
        nodes += names.size();
        list += (list.empty() ? "" : "; ") + std::to_string(names.size()) + " x " + what;
        list += " (" + join(std::vector(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(shown, names.size())))) + (names.size() > shown ? ", ...)" : ")");
        all.push_back({what, names});
    }
    throw OnnxRefused(std::move(all), msg("{} nodes of this ONNX model are not read: {}.", nodes, list), msg("Export the model again without them, or write the network as text."));
}

/// Softmax at the end: the loss takes scores.
void take_off_probabilities(ImportedGraph& graph) {
    if (graph.outputs.empty()) return;
    const int at = graph.value(graph.outputs[0]).step;
    if (at < 0) return;
    ImportedStep& last = graph.step(at);
    const auto rank = static_cast<std::int64_t>(graph.value(graph.outputs[0]).sizes.size());
    if ((last.kind != "Softmax" && last.kind != "LogSoftmax") || last.list != std::vector<std::int64_t>{rank - 1} || rank > 3) return;
    last.gone = true;
    graph.notes.push_back(msg("{} at the end is left out: the loss takes scores.", last.kind));
    graph.outputs[0] = last.inputs[0];
}

/// The field of a network's input, by its shape.
NetworkInput field_of(const ImportedGraph& graph, int value, std::int64_t words) {
    const ImportedValue& in = graph.value(value);
    NetworkInput out;
    for (std::size_t i = 1; i < in.sizes.size(); ++i)
        if (in.sizes[i].is_number()) out.sizes.push_back(in.sizes[i].number);
    if (in.whole && in.sizes.size() == 2) {
        out.field = "tokens";
        out.counts = {words};
    } else if (!in.whole && in.sizes.size() == 4) {
        out.field = "image";
    } else if (!in.whole && in.sizes.size() == 2) {
        out.field = "features";
    } else {
        throw Error(ErrorCode::data, msg("The input of this ONNX model is {}; images (N x C x H x W), features (N x F) and tokens (N x T) can be trained.", network::to_string(in.sizes)));
    }
    return out;
}

std::int64_t words_of(const ImportedGraph& graph) {
    for (const ImportedStep& step : graph.steps)
        if (!step.gone && step.kind == "Embedding") return step.list[0];
    return 1000;
}

/// Result of the network; `outputs` becomes the number of its classes, targets or words.
std::string gives_of(const ImportedGraph& graph, const NetworkInput& in, std::int64_t& outputs) {
    const Extents& end = graph.value(graph.outputs[0]).sizes;
    if (end.size() == 2 && end[1].is_number()) return outputs = end[1].number, "scores";
    if (end.size() == 3 && in.field == "tokens" && end[1] == Extent{1, Size::Symbol::window} && end[2].is_number()) return outputs = end[2].number, "token scores";
    if (end == graph.value(graph.inputs[0]).sizes && in.field == "image") return "image";
    throw Error(ErrorCode::data, msg("This ONNX model ends with {}: no task takes that yet.", network::to_string(end)));
}

std::vector<float> numbers_of(ImportedGraph& graph, const ImportedWeight& weight, const std::string& name) {
    // A file's tensor is read for each use, so that memory holds it once.
    const ImportedConstant& constant = graph.constant(weight.constant);
    std::vector<float> out = constant.tensor != nullptr ? graph.file.floats(*constant.tensor) : constant.numbers;
    if (weight.layout) out = weight.layout(out);
    std::int64_t count = 1;
    for (const std::int64_t size : weight.sizes) count *= size;
    if (static_cast<std::int64_t>(out.size()) != count) throw Error(ErrorCode::data, msg("{} of this ONNX model has a shape that does not fit its layer.", name));
    return out;
}

void add_tensors(ImportedGraph& graph, const WrittenNetwork& written, OnnxImport& out) {
    for (const auto& [name, weight] : written.weights) poll_work(), out.tensors.push_back({name, weight->sizes, numbers_of(graph, *weight, name)});
    for (const auto& [name, constant] : written.bare) out.tensors.push_back({name, graph.constant(constant).dims, graph.numbers(constant)});
}

/// The text for its own sizes has the shapes and parameters that were read, and no others.
void check_text(const OnnxImport& import, const WrittenNetwork& written) {
    const CheckedNetwork network = check_network(import.text, import.data);
    if (const auto fault = std::ranges::find(network.faults, false, &NetworkFault::note); fault != network.faults.end())
        throw Error(ErrorCode::data, msg("This ONNX model makes no network of the notation. Line {} of its text: {}", fault->place.line, fault->text.str()));
    for (const NetworkRow& row : network.rows)
        if (const auto found = written.shapes.find(row.place.line); found != written.shapes.end() && network::to_string(found->second) != row.shape)
            throw Error(ErrorCode::data, msg("{} of this ONNX model has a shape that does not fit its layer.", row.layer));
    std::map<std::string, std::vector<std::int64_t>> read;
    for (const OnnxImport::Tensor& tensor : import.tensors) read.emplace(tensor.name, tensor.sizes);
    const auto check = [&](const std::string& name, const std::vector<std::int64_t>& sizes) {
        const auto found = read.find(name);
        if (found == read.end() || found->second != sizes) throw Error(ErrorCode::data, msg("{} of this ONNX model has a shape that does not fit its layer.", name));
    };
    for (const NetworkParameter& each : network.parameters) check(each.name, each.sizes);
    for (const NetworkTensor& each : network.buffers)
        if (!each.name.ends_with("num_batches_tracked")) check(each.name, each.sizes);
}

using Counts = std::map<std::string, int>;

/// Counts of layers or nodes, each with the first line of such a layer.
std::vector<OnnxRemark::Item> items_of(const Counts& counts, const std::map<std::string, int>& lines = {}) {
    std::vector<OnnxRemark::Item> out;
    for (const auto& [name, count] : counts) {
        const auto line = lines.find(name);
        out.push_back({count, name, line == lines.end() ? 0 : line->second});
    }
    return out;
}

/// The layers of a text by kind, and the line where each kind stands first.
struct LayerKinds {
    Counts counts{};
    std::map<std::string, int> lines{};
    int last = 0;  ///< line of the last layer

    explicit LayerKinds(const OnnxImport& import) {
        for (const NetworkRow& row : check_network(import.text, import.data).rows) {
            const std::string kind = row.layer.substr(0, row.layer.find('('));
            ++counts[kind];
            lines.emplace(kind, row.place.line);
            last = row.place.line;
        }
    }
    bool any(const std::string& part) const {
        return std::ranges::any_of(counts, [&](const auto& each) { return each.first.find(part) != std::string::npos; });
    }
};

void add_report(const OnnxFile& file, const ImportedGraph& graph, const WrittenNetwork& written, OnnxImport& out) {
    using Kind = OnnxRemark::Kind;
    Counts operators;
    for (const OnnxNode& node : file.nodes) ++operators[node.op];
    const LayerKinds layers(out);
    std::int64_t numbers = 0;
    for (const OnnxImport::Tensor& tensor : out.tensors) numbers += static_cast<std::int64_t>(tensor.numbers.size());
    auto& report = out.report;
    if (layers.any("Conv") && !layers.any("Norm"))
        report.push_back({Kind::advice,
                          msg("No norm is left: exporters fold batch norms into convolutions, and zero biases away. It can be trained, but is another network than the one exported. To keep all:"),
                          {}, 0, "model.train(); torch.onnx.export(model, x, \"model.onnx\", dynamo=True, optimize=False)"});
    report.push_back({Kind::read,
                      file.producer.empty() ? msg("Read: {} nodes of opset {}", file.nodes.size(), file.opset)
                                            : msg("Read: {} nodes of opset {}, written by {}", file.nodes.size(), file.opset, file.producer),
                      items_of(operators)});
    report.push_back({Kind::layers, msg("Layers"), items_of(layers.counts, layers.lines)});
    if (!graph.lifted.empty()) report.push_back({Kind::lifted, msg("Lifted from parts"), items_of(graph.lifted, layers.lines)});
    if (!graph.dropped.empty()) report.push_back({Kind::dropped, msg("Dropped"), items_of(graph.dropped)});
    if (graph.folded > 0) report.push_back({Kind::folded, msg("Folded: {} nodes that do not depend on the input.", graph.folded)});
    report.push_back({Kind::tensors, msg("Tensors: {} parameters, {} buffers, {} constants; {} numbers.", written.parameters, written.buffers, written.constants, numbers)});
    for (const Message& note : graph.notes) report.push_back({Kind::note, note, {}, layers.last});
    if (out.data.inputs[0].field == "image")
        report.push_back({Kind::data, msg("The file does not say how pixels are coded, nor in which order its channels stand: training feeds what the settings of the data set say.")});
}

}  // namespace

std::string OnnxRemark::str() const {
    std::string out = text.str();
    if (!items.empty()) out += ": " + join(items, ", ", [](const Item& each) { return std::to_string(each.count) + ' ' + each.name; }) + '.';
    return copy.empty() ? out : out + ' ' + copy + '.';
}

OnnxRefused::OnnxRefused(std::vector<UnreadOperator> all, Message message, Message hint)
    : Error(ErrorCode::data, std::move(message), std::move(hint)), all_(std::move(all)) {}

OnnxImport import_onnx(const std::filesystem::path& path, const std::filesystem::path& data) {
    const OnnxFile file = OnnxFile::open(path, data);
    ImportedGraph graph(file);
    read_graph(graph);
    check_refused(graph);
    if (graph.steps.size() > static_cast<std::size_t>(Limits::layers)) throw Error(ErrorCode::data, msg("This ONNX model has {} layers; at most {} are read.", graph.steps.size(), Limits::layers));
    if (graph.inputs.size() != 1 || graph.outputs.empty())
        throw Error(ErrorCode::data, msg("This ONNX model has {} inputs and {} outputs; networks with one input are read.", graph.inputs.size(), graph.outputs.size()));
    if (graph.outputs.size() > 1) {
        graph.notes.push_back(msg("Of {} outputs the first counts.", graph.outputs.size()));
        graph.outputs.resize(1);
    }
    take_off_probabilities(graph);
    lift(graph);
    if (graph.value(graph.outputs[0]).step < 0) throw Error(ErrorCode::data, msg("The output of this ONNX model does not depend on its input."));
    OnnxImport out;
    out.data.inputs = {field_of(graph, graph.inputs[0], words_of(graph))};
    const std::string gives = gives_of(graph, out.data.inputs[0], out.data.outputs);
    const WrittenNetwork written = write_network(graph, {out.data.inputs[0].field}, gives, out.data.outputs);
    check_refused(graph);
    out.text = written.text;
    add_tensors(graph, written, out);
    check_text(out, written);
    try {
        out.text = network_to_text(out.text, out.data);
    } catch (const Error&) {
        // A text that cannot be folded stays as it was written.
    }
    add_report(file, graph, written, out);
    for (const auto& [name, weight] : written.tied) out.tensors.push_back({name, weight->sizes, numbers_of(graph, *weight, name)});
    return out;
}

void write_onnx_weights(const OnnxImport& import, const std::filesystem::path& path) {
    std::vector<TensorEntry> entries;
    for (const OnnxImport::Tensor& tensor : import.tensors) entries.push_back({tensor.name, "F32", tensor.sizes, std::as_bytes(std::span(tensor.numbers))});
    write_safetensors(path, entries);
}

}  // namespace engine
