#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/network/network.h"

namespace engine {

/// An ONNX model as a network of the notation.
struct OnnxImport {
    struct Tensor {
        std::string name{};  ///< in the text
        std::vector<std::int64_t> sizes{};
        std::vector<float> numbers{};
    };
    std::string text{};
    NetworkData data{};            ///< the sizes that the file has
    std::vector<Tensor> tensors{};  ///< parameters and buffers
    /// Says what was read, lifted, dropped and folded, and what the file leaves out: sentences, the most
    /// important ones first.
    std::vector<std::string> report{};
};

/// Reads a model of opset 9 to 28. `data`: its file of tensors, which a person chose; empty: the one
/// that the model names in its own folder. Throws Error(data): for operators that are not read with
/// one list of all of them.
OnnxImport import_onnx(const std::filesystem::path& path, const std::filesystem::path& data = {});

/// Writes the tensors for model.init_from. Throws Error(io).
void write_onnx_weights(const OnnxImport& import, const std::filesystem::path& path);

}  // namespace engine
