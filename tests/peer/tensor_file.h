#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace peer {

/// A tensor in the form of a safetensors file: dtype by the format's name ("F16", "I64", ...),
/// dense row-major bytes.
struct RawTensor {
    std::string dtype;
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> bytes;

    /// The elements, widened to double; BOOL as 0 and 1. Throws std::runtime_error for other
    /// dtypes.
    std::vector<double> values() const;
};

using TensorMap = std::map<std::string, RawTensor>;

/// All bytes of a file, unpacked if xz has packed them. Throws std::runtime_error.
std::string unpacked(const std::filesystem::path& path);

/// A reader and a writer of safetensors that share nothing with the engine's, so that the golden
/// comparison does not depend on what it checks. Throw std::runtime_error.
TensorMap read_tensors(const std::filesystem::path& path);
void write_tensors(const std::filesystem::path& path, const TensorMap& tensors);

}  // namespace peer
