#include "io/onnx/onnx_messages.h"

#include <charconv>

namespace engine::onnx {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

std::int64_t item_bytes(std::int32_t type) {
    switch (type) {
        case OnnxTensor::u8: case OnnxTensor::i8: case OnnxTensor::boolean: return 1;
        case OnnxTensor::u16: case OnnxTensor::i16: case OnnxTensor::f16: case OnnxTensor::bf16: return 2;
        case OnnxTensor::f32: case OnnxTensor::i32: case OnnxTensor::u32: return 4;
        case OnnxTensor::f64: case OnnxTensor::i64: case OnnxTensor::u64: return 8;
        default: return 0;
    }
}

static std::string text_of(pbf_reader& field) {
    const protozero::data_view view = field.get_view();
    if (view.size() > static_cast<std::size_t>(OnnxFile::most_text)) throw Refused{"a text has more than 1 MiB"};
    return {view.data(), view.size()};
}

static void need(const pbf_reader& field, pbf_wire_type type) {
    if (field.wire_type() != type) throw Refused{"field " + std::to_string(field.tag()) + " of a message has another type"};
}

pbf_reader message_of(pbf_reader& field) {
    need(field, pbf_wire_type::length_delimited);
    return field.get_message();
}

std::string word_of(pbf_reader& field) {
    need(field, pbf_wire_type::length_delimited);
    return text_of(field);
}

std::int64_t whole_of(pbf_reader& field) {
    need(field, pbf_wire_type::varint);
    return field.get_int64();
}

/// A list of whole numbers, packed or one field each.
static void add_wholes(pbf_reader& field, std::vector<std::int64_t>& out) {
    if (field.wire_type() == pbf_wire_type::varint) {
        out.push_back(field.get_int64());
    } else {
        need(field, pbf_wire_type::length_delimited);
        for (const std::int64_t each : field.get_packed_int64()) out.push_back(each);
    }
    if (out.size() > static_cast<std::size_t>(OnnxFile::most_text) / 8) throw Refused{"a list has more than 1 MiB"};
}

static std::pair<std::string, std::string> entry_of(pbf_reader entry) {
    std::pair<std::string, std::string> out;
    while (entry.next()) {
        if (entry.tag() == 1) out.first = word_of(entry);
        else if (entry.tag() == 2) out.second = word_of(entry);
        else entry.skip();
    }
    return out;
}

static std::string_view view_of(pbf_reader& field) {
    need(field, pbf_wire_type::length_delimited);
    const protozero::data_view view = field.get_view();
    return {view.data(), view.size()};
}

/// An offset or length of external data.
static std::int64_t place_of(const std::string& text) {
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) throw Refused{"a tensor does not say where its numbers are"};
    return out;
}

static void check_tensor(OnnxTensor& tensor, int sources) {
    const std::string name = tensor.name.empty() ? "a tensor" : tensor.name;
    if (tensor.dims.size() > 8) throw Refused{name + " has more than 8 dimensions"};
    tensor.count = 1;
    for (const std::int64_t dim : tensor.dims)
        if (dim < 0 || __builtin_mul_overflow(tensor.count, dim, &tensor.count) || tensor.count > std::int64_t{1} << 40)
            throw Refused{name + " has sizes out of range"};
    const std::int64_t bytes = item_bytes(tensor.type) * tensor.count;
    if (sources > 1) throw Refused{name + " holds its numbers twice"};
    if (bytes == 0) return;  // no numbers, or a type that has none here
    if (!tensor.location.empty()) {
        if (tensor.length < 0) tensor.length = bytes;
        if (tensor.length != bytes || tensor.offset < 0) throw Refused{name + " has other bytes than its shape"};
    } else if (tensor.packed.empty() ? static_cast<std::int64_t>(tensor.raw.size()) != bytes
                                     : tensor.count > static_cast<std::int64_t>(tensor.packed.size())) {
        throw Refused{name + " has other bytes than its shape"};
    }
}

static OnnxTensor tensor_of(pbf_reader field) {
    OnnxTensor out;
    int sources = 0;
    bool outside = false;
    while (field.next()) {
        switch (field.tag()) {
            case 1: add_wholes(field, out.dims); break;
            case 2: out.type = static_cast<std::int32_t>(whole_of(field)); break;
            case 8: out.name = word_of(field); break;
            case 9: out.raw = view_of(field), ++sources; break;
            case 4: case 5: case 7: case 10: case 11: out.packed = view_of(field), ++sources; break;
            case 13: {
                const auto [key, value] = entry_of(message_of(field));
                if (key == "location") out.location = value, ++sources;
                if (key == "offset") out.offset = place_of(value);
                if (key == "length") out.length = place_of(value);
                break;
            }
            case 14: outside = whole_of(field) == 1; break;
            default: field.skip();
        }
    }
    if (outside != !out.location.empty()) throw Refused{out.name + " does not say where its numbers are"};
    check_tensor(out, sources);
    return out;
}

static OnnxNode::Attribute attribute_of(pbf_reader field, std::string& name, std::int64_t depth) {
    OnnxNode::Attribute out;
    while (field.next()) {
        switch (field.tag()) {
            case 1: name = word_of(field); break;
            case 2: need(field, pbf_wire_type::fixed32), out.number = static_cast<double>(field.get_float()); break;
            case 3: out.whole = whole_of(field); break;
            case 4: out.text = word_of(field); break;
            case 5: out.tensor = tensor_of(message_of(field)); break;
            case 6: out.graph = std::make_shared<const OnnxBody>(graph_of(message_of(field), depth + 1)); break;
            case 7:
                if (field.wire_type() == pbf_wire_type::fixed32) {
                    out.numbers.push_back(static_cast<double>(field.get_float()));
                } else {
                    need(field, pbf_wire_type::length_delimited);
                    for (const float each : field.get_packed_float()) out.numbers.push_back(static_cast<double>(each));
                }
                if (out.numbers.size() > static_cast<std::size_t>(OnnxFile::most_text) / 8) throw Refused{"a list has more than 1 MiB"};
                break;
            case 8: add_wholes(field, out.wholes); break;
            case 9: out.words.push_back(word_of(field)), count(out.words); break;
            case 21: out.reference = word_of(field); break;
            case 20: out.type = static_cast<std::int32_t>(whole_of(field)); break;
            default: field.skip();
        }
    }
    return out;
}

static OnnxNode node_of(pbf_reader field, std::int64_t depth) {
    OnnxNode out;
    while (field.next()) {
        switch (field.tag()) {
            case 1: out.inputs.push_back(word_of(field)), count(out.inputs); break;
            case 2: out.outputs.push_back(word_of(field)), count(out.outputs); break;
            case 3: out.name = word_of(field); break;
            case 4: out.op = word_of(field); break;
            case 5: {
                std::string name;
                OnnxNode::Attribute attribute = attribute_of(message_of(field), name, depth);
                if (!out.attributes.emplace(name, std::move(attribute)).second) throw Refused{"a node has the attribute " + name + " twice"};
                break;
            }
            case 7: out.domain = word_of(field); break;
            case 8: out.overload = word_of(field); break;
            case 9: {
                auto [key, value] = entry_of(message_of(field));
                if (key == "pkg.torch.onnx.name_scopes") out.scopes = std::move(value);
                break;
            }
            default: field.skip();
        }
    }
    if (out.domain == "ai.onnx") out.domain.clear();
    return out;
}

static void read_shape(pbf_reader shape, OnnxPort& out) {
    while (shape.next()) {
        if (shape.tag() != 1) {
            shape.skip();
            continue;
        }
        pbf_reader dim = message_of(shape);
        out.dims.emplace_back(std::string());
        if (out.dims.size() > 8) throw Refused{out.name + " has more than 8 dimensions"};
        while (dim.next()) {
            if (dim.tag() == 1) out.dims.back() = whole_of(dim);
            else if (dim.tag() == 2) out.dims.back() = word_of(dim);
            else dim.skip();
        }
    }
}

static OnnxPort port_of(pbf_reader field) {
    OnnxPort out;
    while (field.next()) {
        if (field.tag() == 1) {
            out.name = word_of(field);
        } else if (field.tag() == 2) {
            pbf_reader type = message_of(field);
            while (type.next()) {
                if (type.tag() != 1) {
                    type.skip();
                    continue;
                }
                pbf_reader tensor = message_of(type);
                while (tensor.next()) {
                    if (tensor.tag() == 1) out.type = static_cast<std::int32_t>(whole_of(tensor));
                    else if (tensor.tag() == 2) read_shape(message_of(tensor), out);
                    else tensor.skip();
                }
            }
        } else {
            field.skip();
        }
    }
    return out;
}

OnnxBody graph_of(pbf_reader graph, std::int64_t depth) {
    if (depth > OnnxFile::most_depth) throw Refused{"its graphs lie more than 8 deep in each other"};
    OnnxBody out;
    while (graph.next()) {
        switch (graph.tag()) {
            case 1: out.nodes.push_back(node_of(message_of(graph), depth)), count(out.nodes); break;
            case 5: out.tensors.push_back(tensor_of(message_of(graph))), count(out.tensors); break;
            case 11: out.inputs.push_back(port_of(message_of(graph))), count(out.inputs); break;
            case 12: out.outputs.push_back(port_of(message_of(graph))), count(out.outputs); break;
            case 15: ++out.sparse; [[fallthrough]];
            default: graph.skip();
        }
    }
    return out;
}

OnnxFunction function_of(pbf_reader field) {
    OnnxFunction out;
    while (field.next()) {
        switch (field.tag()) {
            case 1: out.name = word_of(field); break;
            case 4: out.inputs.push_back(word_of(field)), count(out.inputs); break;
            case 5: out.outputs.push_back(word_of(field)), count(out.outputs); break;
            case 7: out.nodes.push_back(node_of(message_of(field), 0)), count(out.nodes); break;
            case 10: out.domain = word_of(field); break;
            case 11: {
                std::string name;
                OnnxNode::Attribute attribute = attribute_of(message_of(field), name, 0);
                out.defaults.emplace(name, std::move(attribute));
                break;
            }
            case 13: out.overload = word_of(field); break;
            default: field.skip();
        }
    }
    if (out.domain == "ai.onnx") out.domain.clear();
    return out;
}

}  // namespace engine::onnx
