#pragma once

#include <filesystem>

#include "io/file/atomic_file.h"
#include "tensor/tensor.h"

namespace engine {

/// All tensors of a safetensors file, by name. Integers of 8 and 16 bits and unsigned ones of 32
/// bits are widened. Throws Error(data).
TensorMap load_tensors(const std::filesystem::path& path);
/// Writes them, row-major, each in its own type. Throws Error(io).
void save_tensors(const std::filesystem::path& path, const TensorMap& tensors,
                  NamedBy by = NamedBy::person);

}  // namespace engine
