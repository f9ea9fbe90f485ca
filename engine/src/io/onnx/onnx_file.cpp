#include "io/onnx/onnx_file.h"

#include <bit>
#include <cstring>

#include "engine/base/error.h"
#include "engine/io/onnx_data_needed.h"
#include "io/file/mapped_access.h"
#include "io/file/outside_file.h"
#include "io/onnx/onnx_messages.h"
#include "kernels/dtype.h"

namespace engine {
namespace {

using protozero::pbf_reader;
using onnx::Refused;
using onnx::item_bytes;
using onnx::message_of;
using onnx::whole_of;
using onnx::word_of;

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
            case 7: static_cast<OnnxBody&>(*this) = onnx::graph_of(message_of(model), 0), found = true; break;
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
            case 25: functions.push_back(onnx::function_of(message_of(model))), onnx::count(functions); break;
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
