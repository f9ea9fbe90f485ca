#include "io/onnx/onnx_file.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <protozero/pbf_reader.hpp>

#include "engine/base/error.h"
#include "engine/io/onnx_data_needed.h"
#include "io/file/mapped_access.h"
#include "io/file/outside_file.h"
#include "kernels/dtype.h"

namespace engine {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Why a file is refused.
struct Refused {
    std::string why;
};

std::string text_of(pbf_reader& field) {
    const protozero::data_view view = field.get_view();
    if (view.size() > static_cast<std::size_t>(OnnxFile::most_text)) throw Refused{"a text has more than 1 MiB"};
    return {view.data(), view.size()};
}

void need(const pbf_reader& field, pbf_wire_type type) {
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

template <typename Part>
void count(const std::vector<Part>& parts) {
    if (static_cast<std::int64_t>(parts.size()) > OnnxFile::most_parts) throw Refused{"it has more than 100,000 nodes or tensors"};
}

/// A list of whole numbers, packed or one field each.
void add_wholes(pbf_reader& field, std::vector<std::int64_t>& out) {
    if (field.wire_type() == pbf_wire_type::varint) {
        out.push_back(field.get_int64());
    } else {
        need(field, pbf_wire_type::length_delimited);
        for (const std::int64_t each : field.get_packed_int64()) out.push_back(each);
    }
    if (out.size() > static_cast<std::size_t>(OnnxFile::most_text) / 8) throw Refused{"a list has more than 1 MiB"};
}

std::pair<std::string, std::string> entry_of(pbf_reader entry) {
    std::pair<std::string, std::string> out;
    while (entry.next()) {
        if (entry.tag() == 1) out.first = word_of(entry);
        else if (entry.tag() == 2) out.second = word_of(entry);
        else entry.skip();
    }
    return out;
}

std::int64_t item_bytes(std::int32_t type) {
    switch (type) {
        case OnnxTensor::u8: case OnnxTensor::i8: case OnnxTensor::boolean: return 1;
        case OnnxTensor::u16: case OnnxTensor::i16: case OnnxTensor::f16: case OnnxTensor::bf16: return 2;
        case OnnxTensor::f32: case OnnxTensor::i32: case OnnxTensor::u32: return 4;
        case OnnxTensor::f64: case OnnxTensor::i64: case OnnxTensor::u64: return 8;
        default: return 0;
    }
}

std::string_view view_of(pbf_reader& field) {
    need(field, pbf_wire_type::length_delimited);
    const protozero::data_view view = field.get_view();
    return {view.data(), view.size()};
}

/// An offset or length of external data.
std::int64_t place_of(const std::string& text) {
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) throw Refused{"a tensor does not say where its numbers are"};
    return out;
}

void check_tensor(OnnxTensor& tensor, int sources) {
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

OnnxTensor tensor_of(pbf_reader field) {
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

OnnxNode::Attribute attribute_of(pbf_reader field, std::string& name) {
    OnnxNode::Attribute out;
    while (field.next()) {
        switch (field.tag()) {
            case 1: name = word_of(field); break;
            case 2: need(field, pbf_wire_type::fixed32), out.number = static_cast<double>(field.get_float()); break;
            case 3: out.whole = whole_of(field); break;
            case 4: out.text = word_of(field); break;
            case 5: out.tensor = tensor_of(message_of(field)); break;
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
            case 20: out.type = static_cast<std::int32_t>(whole_of(field)); break;
            default: field.skip();
        }
    }
    return out;
}

OnnxNode node_of(pbf_reader field) {
    OnnxNode out;
    while (field.next()) {
        switch (field.tag()) {
            case 1: out.inputs.push_back(word_of(field)), count(out.inputs); break;
            case 2: out.outputs.push_back(word_of(field)), count(out.outputs); break;
            case 3: out.name = word_of(field); break;
            case 4: out.op = word_of(field); break;
            case 5: {
                std::string name;
                OnnxNode::Attribute attribute = attribute_of(message_of(field), name);
                if (!out.attributes.emplace(name, std::move(attribute)).second) throw Refused{"a node has the attribute " + name + " twice"};
                break;
            }
            case 7: out.domain = word_of(field); break;
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

void read_shape(pbf_reader shape, OnnxPort& out) {
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

OnnxPort port_of(pbf_reader field) {
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

void read_graph(pbf_reader graph, OnnxFile& out) {
    while (graph.next()) {
        switch (graph.tag()) {
            case 1: out.nodes.push_back(node_of(message_of(graph))), count(out.nodes); break;
            case 5: out.tensors.push_back(tensor_of(message_of(graph))), count(out.tensors); break;
            case 11: out.inputs.push_back(port_of(message_of(graph))), count(out.inputs); break;
            case 12: out.outputs.push_back(port_of(message_of(graph))), count(out.outputs); break;
            case 15: ++out.sparse; [[fallthrough]];
            default: graph.skip();
        }
    }
}

[[noreturn]] void refuse_file(const std::filesystem::path& path, const std::string& why) {
    throw Error(ErrorCode::data, msg("{} cannot be read as an ONNX model: {}.", path.string(), why));
}

[[noreturn]] void ask_for_data(const std::filesystem::path& path, const std::string& why) {
    throw OnnxDataNeeded(msg("{} cannot be read as an ONNX model: {}.", path.string(), why));
}

template <typename From, typename To>
void widen(const std::string& bytes, std::vector<To>& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        From each;
        std::memcpy(&each, bytes.data() + i * sizeof(From), sizeof(From));
        out[i] = static_cast<To>(each);
    }
}

}  // namespace

std::int64_t OnnxNode::whole(const char* attribute, std::int64_t usual) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? usual : found->second.whole;
}
double OnnxNode::number(const char* attribute, double usual) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? usual : found->second.number;
}
std::string OnnxNode::text(const char* attribute, const char* usual) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? usual : found->second.text;
}
std::vector<std::int64_t> OnnxNode::wholes(const char* attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::vector<std::int64_t>() : found->second.wholes;
}

std::vector<std::string> OnnxNode::words(const char* attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? std::vector<std::string>() : found->second.words;
}

OnnxFile OnnxFile::open(const std::filesystem::path& path, const std::filesystem::path& data) {
    OnnxFile out;
    out.path_ = path;
    out.data_ = data;
    const File file = open_outside_file(path);
    const std::int64_t size = file.size();
    if (!file.is_open() || size <= 0) refuse_file(path, file.is_open() ? "it is empty" : "there is no such file");
    if (size > most_bytes) refuse_file(path, "it has more than 2 GiB");
    out.map_ = Mapping(file, 0, size, Mapping::Access::read);
    if (out.map_.data() == nullptr) refuse_file(path, "the system does not map it");
    try {
        const MappedAccess access(out.map_);
        out.read_model();
    } catch (const Refused& refused) {
        refuse_file(path, refused.why);
    } catch (const protozero::exception&) {
        refuse_file(path, "it is damaged, or no ONNX model");
    }
    out.check_whole();
    return out;
}

void OnnxFile::read_model() {
    pbf_reader model(reinterpret_cast<const char*>(map_.data()), map_.size());
    bool found = false;
    std::string version;
    while (model.next()) {
        switch (model.tag()) {
            case 2: producer = word_of(model); break;
            case 3: version = word_of(model); break;
            case 7: read_graph(message_of(model), *this), found = true; break;
            case 8: {
                pbf_reader set = message_of(model);
                std::string domain;
                std::int64_t number = 0;
                while (set.next()) {
                    if (set.tag() == 1) domain = word_of(set);
                    else if (set.tag() == 2) number = whole_of(set);
                    else set.skip();
                }
                if (domain.empty() || domain == "ai.onnx") opset = number;
                break;
            }
            case 25: ++functions; [[fallthrough]];
            default: model.skip();
        }
    }
    if (!found) throw Refused{"it has no graph"};
    if (!version.empty()) producer += (producer.empty() ? "" : " ") + version;
}

void OnnxFile::check_whole() const {
    if (map_.is_lost()) refuse_file(path_, "another program cut it short");
}

/// External data are read only from a regular file in the model's folder, given by its plain name
/// and without other hard links. With paths or links a downloaded model could read any file of the
/// user's.
std::string OnnxFile::outside_bytes(const OnnxTensor& tensor) const {
    const bool plain = tensor.location.find('/') == tensor.location.npos && tensor.location != "." && tensor.location != ".." &&
                       tensor.location.find('\0') == tensor.location.npos;
    if (data_.empty() && !plain) ask_for_data(path_, "its data file " + tensor.location + " is no name in its folder. Choose the file yourself with --data FILE");
    const File file = data_.empty() ? open_beside(path_, tensor.location) : open_outside_file(data_);
    if (!file.is_open())
        ask_for_data(path_, "its data file " + tensor.location + " is missing, or a link, or no regular file. Choose the file yourself with --data FILE");
    std::string out;
    if (tensor.offset > file.size() - tensor.length || !read_at(file, tensor.offset, tensor.length, out))
        refuse_file(path_, tensor.name + " lies beyond the end of " + tensor.location);
    return out;
}

std::string OnnxFile::bytes_of(const OnnxTensor& tensor) const {
    return tensor.location.empty() ? std::string(tensor.raw) : outside_bytes(tensor);
}

std::vector<float> OnnxFile::floats(const OnnxTensor& tensor) const {
    const MappedAccess access(map_);
    if (!tensor.is_real() || (!tensor.packed.empty() && tensor.type != OnnxTensor::f32 && tensor.type != OnnxTensor::f64))
        refuse_file(path_, tensor.name + " has a type that is not read here");
    std::string bytes = tensor.packed.empty() ? bytes_of(tensor) : std::string(tensor.packed);
    if (static_cast<std::int64_t>(bytes.size()) != item_bytes(tensor.type) * tensor.count) refuse_file(path_, tensor.name + " has other bytes than its shape");
    std::vector<float> out(static_cast<std::size_t>(tensor.count));
    if (tensor.type == OnnxTensor::f32) {
        if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    } else if (tensor.type == OnnxTensor::f64) {
        widen<double>(bytes, out);
    } else {
        for (std::size_t i = 0; i < out.size(); ++i) {
            std::uint16_t each;
            std::memcpy(&each, bytes.data() + 2 * i, 2);
            out[i] = tensor.type == OnnxTensor::bf16 ? std::bit_cast<float>(static_cast<std::uint32_t>(each) << 16)
                                                     : kernels::to_float(std::bit_cast<kernels::Half>(each));
        }
    }
    check_whole();
    return out;
}

std::vector<std::int64_t> OnnxFile::wholes(const OnnxTensor& tensor) const {
    const MappedAccess access(map_);
    if (!tensor.is_whole()) refuse_file(path_, tensor.name + " has a type that is not read here");
    std::vector<std::int64_t> out;
    if (!tensor.packed.empty()) {
        try {
            protozero::const_varint_iterator<std::int64_t> at(tensor.packed.data(), tensor.packed.data() + tensor.packed.size());
            for (std::int64_t i = 0; i < tensor.count; ++i) out.push_back(*at++);
        } catch (const protozero::exception&) {
            refuse_file(path_, tensor.name + " has other bytes than its shape");
        }
    } else {
        const std::string bytes = bytes_of(tensor);
        out.resize(static_cast<std::size_t>(tensor.count));
        switch (tensor.type) {
            case OnnxTensor::u8: case OnnxTensor::boolean: widen<std::uint8_t>(bytes, out); break;
            case OnnxTensor::i8: widen<std::int8_t>(bytes, out); break;
            case OnnxTensor::u16: widen<std::uint16_t>(bytes, out); break;
            case OnnxTensor::i16: widen<std::int16_t>(bytes, out); break;
            case OnnxTensor::i32: widen<std::int32_t>(bytes, out); break;
            case OnnxTensor::u32: widen<std::uint32_t>(bytes, out); break;
            default: widen<std::int64_t>(bytes, out);
        }
    }
    check_whole();
    return out;
}

}  // namespace engine
