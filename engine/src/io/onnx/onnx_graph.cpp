#include "io/onnx/onnx_graph.h"

#include <algorithm>
#include <cmath>
#include <protozero/pbf_builder.hpp>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/version.h"
#include "tensor/cast.h"
#include "tensor/module_scope.h"
#include "tensor/restore.h"
#include "tensor/tape.h"

namespace engine {
namespace {

/// A value that is finite in f32 and infinite in fp16.
bool overflows(const Tensor& wide, const Tensor& low) {
    const auto* before = wide.data_as<float>();
    const auto* after = low.data_as<kernels::Half>();
    for (std::int64_t i = 0; i < wide.numel(); ++i) {
        if (std::isfinite(before[i]) && !std::isfinite(kernels::to_float(after[i]))) return true;
    }
    return false;
}

using protozero::pbf_builder;
using protozero::pbf_tag_type;

// Fields of onnx.proto, and values of its enums.

enum class ModelField : pbf_tag_type {
    ir_version = 1,
    producer_name = 2,
    producer_version = 3,
    graph = 7,
    opset_import = 8,
    metadata_props = 14,
};
enum class OpsetField : pbf_tag_type { domain = 1, version = 2 };
enum class EntryField : pbf_tag_type { key = 1, value = 2 };
enum class GraphField : pbf_tag_type {
    node = 1,
    name = 2,
    initializer = 5,
    input = 11,
    output = 12,
};
enum class NodeField : pbf_tag_type { input = 1, output = 2, name = 3, op_type = 4, attribute = 5 };
enum class AttributeField : pbf_tag_type {
    name = 1,
    f = 2,
    i = 3,
    s = 4,
    ints = 8,
    strings = 9,
    type = 20,
};
enum class TensorField : pbf_tag_type { dims = 1, data_type = 2, name = 8, raw_data = 9 };
enum class ValueField : pbf_tag_type { name = 1, type = 2 };
enum class TypeField : pbf_tag_type { tensor_type = 1 };
enum class TensorTypeField : pbf_tag_type { elem_type = 1, shape = 2 };
enum class ShapeField : pbf_tag_type { dim = 1 };
enum class DimField : pbf_tag_type { dim_value = 1, dim_param = 2 };

constexpr std::int64_t ir_version = 8;  // the one that opset 17 came with
enum AttributeType : std::int32_t {
    type_float = 1,
    type_int = 2,
    type_string = 3,
    type_ints = 7,
    type_strings = 8
};

std::int32_t data_type(DType dtype) { return static_cast<std::int32_t>(onnx_type(dtype)); }

void add_port(pbf_builder<GraphField>& graph, GraphField field, const OnnxGraph::Port& port) {
    pbf_builder<ValueField> value(graph, field);
    value.add_string(ValueField::name, port.name);
    pbf_builder<TypeField> type(value, ValueField::type);
    pbf_builder<TensorTypeField> tensor(type, TypeField::tensor_type);
    tensor.add_int32(TensorTypeField::elem_type, data_type(port.dtype));
    pbf_builder<ShapeField> shape(tensor, TensorTypeField::shape);
    for (const OnnxDim& dim : port.dims) {
        pbf_builder<DimField> written(shape, ShapeField::dim);
        if (const auto* size = std::get_if<std::int64_t>(&dim)) {
            written.add_int64(DimField::dim_value, *size);
        } else {
            written.add_string(DimField::dim_param, std::get<std::string>(dim));
        }
    }
}

void add_initializer(pbf_builder<GraphField>& graph, const OnnxGraph::Initializer& initializer) {
    pbf_builder<TensorField> tensor(graph, GraphField::initializer);
    for (const std::int64_t size : initializer.tensor.shape())
        tensor.add_int64(TensorField::dims, size);
    tensor.add_int32(TensorField::data_type, data_type(initializer.tensor.dtype()));
    tensor.add_string(TensorField::name, initializer.name);
    tensor.add_bytes(TensorField::raw_data, initializer.tensor.data_as<char>(),
                     initializer.tensor.bytes());
}

/// Writes the value of an attribute and its type.
struct AttributeWriter {
    pbf_builder<AttributeField>& to;

    void operator()(std::int64_t value) const {
        to.add_int64(AttributeField::i, value);
        to.add_enum(AttributeField::type, type_int);
    }
    void operator()(double value) const {
        to.add_float(AttributeField::f, static_cast<float>(value));
        to.add_enum(AttributeField::type, type_float);
    }
    void operator()(const std::string& value) const {
        to.add_bytes(AttributeField::s, value);
        to.add_enum(AttributeField::type, type_string);
    }
    void operator()(const std::vector<std::int64_t>& values) const {
        for (const std::int64_t value : values) to.add_int64(AttributeField::ints, value);
        to.add_enum(AttributeField::type, type_ints);
    }
    void operator()(const std::vector<std::string>& values) const {
        for (const std::string& value : values) to.add_bytes(AttributeField::strings, value);
        to.add_enum(AttributeField::type, type_strings);
    }
};

void add_node(pbf_builder<GraphField>& graph, const OnnxGraph::Node& from) {
    pbf_builder<NodeField> node(graph, GraphField::node);
    for (const OnnxValue& input : from.inputs) node.add_string(NodeField::input, input);
    for (const OnnxValue& output : from.outputs) node.add_string(NodeField::output, output);
    node.add_string(NodeField::name, from.name);
    node.add_string(NodeField::op_type, from.type);
    for (const auto& [name, value] : from.attributes) {
        pbf_builder<AttributeField> attribute(node, NodeField::attribute);
        attribute.add_string(AttributeField::name, name);
        std::visit(AttributeWriter{attribute}, value);
    }
}

void add_graph(pbf_builder<ModelField>& model, const OnnxGraph& from) {
    pbf_builder<GraphField> graph(model, ModelField::graph);
    for (const auto& node : from.nodes()) add_node(graph, node);
    graph.add_string(GraphField::name, "model");
    for (const auto& initializer : from.initializers()) add_initializer(graph, initializer);
    for (const auto& port : from.inputs()) add_port(graph, GraphField::input, port);
    for (const auto& port : from.outputs()) add_port(graph, GraphField::output, port);
}

void check_size(const OnnxGraph& graph, std::uint64_t most) {
    constexpr std::uint64_t beside_weights = 16 << 20;
    std::uint64_t bytes = beside_weights;
    for (const auto& initializer : graph.initializers()) bytes += initializer.tensor.bytes();
    if (bytes <= most) return;
    throw Error(
        ErrorCode::data,
        msg("The model's weights take {} MiB; an ONNX file holds at most 2 GiB.", bytes >> 20),
        msg("Export it as fp16, or as safetensors."));
}

}  // namespace

OnnxGraph::OnnxGraph(DType dtype) : dtype_(dtype) {
    if (dtype != DType::f32 && dtype != DType::f16)
        throw Error(ErrorCode::value, msg("ONNX: a graph is fp32 or fp16, not {}", name(dtype)));
}

std::string OnnxGraph::own_name(std::string name) const {
    while (reserved_.contains(name)) name.insert(0, 1, ':');
    return name;
}

OnnxValue OnnxGraph::input(const std::string& name, DType dtype, std::vector<OnnxDim> dims) {
    inputs_.push_back({name, dtype, std::move(dims)});
    return name;
}

void OnnxGraph::output(const std::string& name, const OnnxValue& value, std::vector<OnnxDim> dims) {
    nodes_.push_back({name, "Identity", {value}, {name}, {}});
    outputs_.push_back({name, dtype_, std::move(dims)});
}

OnnxValue OnnxGraph::weight(const std::string& name, const Tensor& tensor) {
    return add(name, tensor, dtype_);
}

OnnxValue OnnxGraph::statistic(const std::string& name, const Tensor& tensor) {
    return add(name, tensor, DType::f32);
}

OnnxValue OnnxGraph::add(const std::string& name, const Tensor& tensor, DType dtype) {
    const bool is_there =
        std::any_of(initializers_.begin(), initializers_.end(),
                    [&](const Initializer& initializer) { return initializer.name == name; });
    if (is_there) return name;
    const GradMode off(false);
    const bool is_there_as_it_is =
        tensor.device().kind == Device::Kind::cpu && tensor.is_contiguous();
    const Tensor given = is_there_as_it_is ? tensor.detach() : snapshot(tensor);
    const Tensor wide = given.dtype() == DType::f32 ? given : to(given, DType::f32);
    const Tensor stored = dtype == DType::f32 ? wide : to(wide, dtype);
    if (dtype == DType::f16 && overflows(wide, stored)) {
        throw Error(ErrorCode::data,
                    msg("{} holds values beyond 65504, which fp16 cannot hold", name),
                    msg("Export the model as fp32."));
    }
    initializers_.push_back({name, stored});
    return name;
}

OnnxValue OnnxGraph::integers(const std::vector<std::int64_t>& values) {
    std::string name = "integers";
    for (const std::int64_t value : values) name += "." + std::to_string(value);
    name = own_name(std::move(name));
    const bool is_there =
        std::any_of(initializers_.begin(), initializers_.end(),
                    [&](const Initializer& initializer) { return initializer.name == name; });
    if (is_there) return name;
    const Tensor tensor =
        Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::i64, Device{});
    tensor.copy_from_host(values.data());
    initializers_.push_back({name, tensor});
    return name;
}

OnnxValue OnnxGraph::node(const std::string& type, const OnnxValues& inputs,
                          const OnnxAttributes& attributes) {
    return node(type, inputs, attributes, 1).front();
}

OnnxValues OnnxGraph::node(const std::string& type, const OnnxValues& inputs,
                           const OnnxAttributes& attributes, std::size_t outputs) {
    for (const Node& each : nodes_) {
        if (each.type == type && each.inputs == inputs && each.attributes == attributes)
            return each.outputs;
    }
    const std::string& module = current_module();
    const std::string name =
        own_name((module.empty() ? "" : module + "/") + type + "_" + std::to_string(nodes_.size()));
    OnnxValues made;
    for (std::size_t i = 0; i < outputs; ++i)
        made.push_back(outputs == 1 ? name : own_name(name + "." + std::to_string(i)));
    nodes_.push_back({name, type, inputs, made, attributes});
    return made;
}

std::int64_t onnx_type(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return 1;
        case DType::u8:
            return 2;
        case DType::i32:
            return 6;
        case DType::i64:
            return 7;
        case DType::boolean:
            return 9;
        case DType::f16:
            return 10;
        case DType::f64:
            return 11;
        case DType::bf16:
            return 16;
    }
    return 0;
}

std::string onnx_model(const OnnxGraph& graph, const std::map<std::string, std::string>& metadata,
                       std::uint64_t max_bytes) {
    check_size(graph, max_bytes);
    std::string out;
    pbf_builder<ModelField> model(out);
    model.add_int64(ModelField::ir_version, ir_version);
    model.add_string(ModelField::producer_name, "Halftone");
    model.add_string(ModelField::producer_version, program_version());
    add_graph(model, graph);
    {
        pbf_builder<OpsetField> opset(model, ModelField::opset_import);
        opset.add_string(OpsetField::domain, "");
        opset.add_int64(OpsetField::version, OnnxGraph::opset);
    }
    for (const auto& [key, value] : metadata) {
        pbf_builder<EntryField> entry(model, ModelField::metadata_props);
        entry.add_string(EntryField::key, key);
        entry.add_string(EntryField::value, value);
    }
    return out;
}

}  // namespace engine
