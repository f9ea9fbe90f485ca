#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "io/safetensors/safetensors.h"
#include "tensor/tensor.h"

namespace engine {

/// A file in tests/peer/golden with f64 tensors, and JSON in its metadata.
class GoldenFile {
public:
    explicit GoldenFile(const char* name)
        : file_(SafetensorsFile::open(std::filesystem::path(HALFTONE_GOLDEN_DIR) / name)) {}

    nlohmann::json setting(const std::string& name) const {
        return nlohmann::json::parse(file_.metadata().at(name));
    }
    Tensor tensor(const std::string& name) const {
        const TensorEntry* entry = file_.find(name);
        if (entry == nullptr || entry->dtype != "F64") throw std::out_of_range(name);
        Shape shape;
        for (const auto size : entry->shape) shape.push_back(size);
        const Tensor tensor = Tensor::empty(shape, DType::f64);
        tensor.copy_from_host(entry->bytes.data());
        return tensor;
    }

private:
    SafetensorsFile file_;
};

}  // namespace engine
