#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/byte_reader.h"
#include "io/safetensors/safetensors.h"
#include "temp_folder.h"
#include "tensor/tensor.h"

namespace engine::test {

/// NAME.xz of tests/peer/golden, unpacked.
inline std::string golden_text(const std::string& name) {
    const auto reader = open_packed(std::filesystem::path(HALFTONE_GOLDEN_DIR) / (name + ".xz"));
    std::string all;
    std::vector<std::uint8_t> block(1 << 16);
    while (const std::size_t count = reader->read(block))
        all.append(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
    return all;
}

/// Tensors of f64 and f32 with texts, as a script of tests/peer wrote them: NAME.safetensors.xz.
class GoldenFile {
public:
    explicit GoldenFile(const std::string& name) : file_(open(name + ".safetensors")) {}

    const std::map<std::string, std::string>& texts() const { return file_.metadata(); }
    const std::string& text(const std::string& key) const { return texts().at(key); }
    /// A text that is JSON.
    nlohmann::json setting(const std::string& key) const {
        return nlohmann::json::parse(text(key));
    }
    bool has(const std::string& tensor) const { return file_.find(tensor) != nullptr; }
    Tensor tensor(const std::string& name) const {
        const TensorEntry* entry = file_.find(name);
        if (entry == nullptr || (entry->dtype != "F64" && entry->dtype != "F32"))
            throw std::out_of_range(name);
        Shape shape;
        for (const auto size : entry->shape) shape.push_back(size);
        const Tensor out = Tensor::empty(shape, entry->dtype == "F64" ? DType::f64 : DType::f32);
        out.copy_from_host(entry->bytes.data());
        return out;
    }
    std::vector<double> values(const std::string& name) const { return tensor(name).values(); }

private:
    static SafetensorsFile open(const std::string& name) {
        const test_support::TempFolder folder;
        return SafetensorsFile::open(folder.write(name, golden_text(name)));
    }

    SafetensorsFile file_;
};

}  // namespace engine::test
