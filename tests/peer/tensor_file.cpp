#include "tensor_file.h"

#include <lzma.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace peer {
namespace {

template <typename T>
std::vector<double> widened(const std::vector<std::uint8_t>& bytes) {
    std::vector<double> values(bytes.size() / sizeof(T));
    for (std::size_t i = 0; i < values.size(); ++i) {
        T element;
        std::memcpy(&element, bytes.data() + i * sizeof(T), sizeof(T));
        values[i] = static_cast<double>(element);
    }
    return values;
}

/// Decodes a 16-bit float with this many exponent and fraction bits, by the definition.
double decode(std::uint16_t bits, int exponent_bits, int fraction_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const double fraction =
        std::ldexp(static_cast<double>(bits & ((1 << fraction_bits) - 1)), -fraction_bits);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == (1 << exponent_bits) - 1) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
    return sign * std::ldexp(1 + fraction, exponent - bias);
}

std::vector<double> widened_16(const std::vector<std::uint8_t>& bytes, int exponent_bits) {
    std::vector<double> values(bytes.size() / 2);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes.data() + i * 2, 2);
        values[i] = decode(bits, exponent_bits, 15 - exponent_bits);
    }
    return values;
}

}  // namespace

std::string unpacked(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path.string() + ": cannot be opened");
    const std::string packed((std::istreambuf_iterator<char>(file)), {});
    if (!packed.starts_with("\3757zXZ")) return packed;
    const auto* from = reinterpret_cast<const std::uint8_t*>(packed.data());
    lzma_ret status = LZMA_BUF_ERROR;
    for (std::size_t room = 1u << 20; status == LZMA_BUF_ERROR && room <= 1u << 30; room *= 4) {
        std::string all(room, '\0');
        std::uint64_t memory_limit = 1u << 28;
        std::size_t read = 0, written = 0;
        status =
            lzma_stream_buffer_decode(&memory_limit, 0, nullptr, from, &read, packed.size(),
                                      reinterpret_cast<std::uint8_t*>(all.data()), &written, room);
        if (status == LZMA_OK) return all.substr(0, written);
    }
    throw std::runtime_error(path.string() + ": damaged");
}

std::vector<double> RawTensor::values() const {
    if (dtype == "F64") return widened<double>(bytes);
    if (dtype == "F32") return widened<float>(bytes);
    if (dtype == "F16") return widened_16(bytes, 5);
    if (dtype == "BF16") return widened_16(bytes, 8);
    if (dtype == "I64") return widened<std::int64_t>(bytes);
    if (dtype == "I32") return widened<std::int32_t>(bytes);
    if (dtype == "BOOL" || dtype == "U8") return widened<std::uint8_t>(bytes);
    throw std::runtime_error("no values of dtype " + dtype);
}

TensorMap read_tensors(const std::filesystem::path& path) {
    const std::string file = unpacked(path);
    std::uint64_t length = 0;
    if (file.size() >= sizeof length) std::memcpy(&length, file.data(), sizeof length);
    const std::uint64_t start = sizeof length + length;
    if (length == 0 || length > (1u << 26) || start > file.size())
        throw std::runtime_error(path.string() + ": not a safetensors file");
    TensorMap tensors;
    const auto entries = nlohmann::json::parse(file.substr(sizeof length, length));
    for (const auto& [name, entry] : entries.items()) {
        if (name == "__metadata__") continue;
        const auto begin = start + entry["data_offsets"][0].get<std::uint64_t>();
        const auto end = start + entry["data_offsets"][1].get<std::uint64_t>();
        if (begin > end || end > file.size())
            throw std::runtime_error(path.string() + ": " + name + " is cut off");
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
        RawTensor tensor{entry["dtype"], entry["shape"], {bytes + begin, bytes + end}};
        tensors.emplace(name, std::move(tensor));
    }
    return tensors;
}

void write_tensors(const std::filesystem::path& path, const TensorMap& tensors) {
    nlohmann::json header = nlohmann::json::object();
    std::uint64_t offset = 0;
    for (const auto& [name, tensor] : tensors) {
        const std::uint64_t end = offset + tensor.bytes.size();
        header[name] = {
            {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
        offset = end;
    }
    const std::string text = header.dump();
    const std::uint64_t length = text.size();
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file.write(text.data(), static_cast<std::streamsize>(length));
    for (const auto& [name, tensor] : tensors) {
        file.write(reinterpret_cast<const char*>(tensor.bytes.data()),
                   static_cast<std::streamsize>(tensor.bytes.size()));
    }
    if (!file) throw std::runtime_error(path.string() + ": could not be written");
}

}  // namespace peer
