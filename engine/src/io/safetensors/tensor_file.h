#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "io/file/atomic_file.h"
#include "tensor/tensor.h"

namespace engine {

/// All tensors of a safetensors file, by name. Integers of 8 and 16 bits and unsigned ones of 32
/// bits are widened. Throws Error(data).
TensorMap load_tensors(const std::filesystem::path& path);
/// Writes them, row-major, each in its own type, with texts for the file's head. Throws Error(io).
void save_tensors(const std::filesystem::path& path, const TensorMap& tensors,
                  NamedBy by = NamedBy::person,
                  const std::map<std::string, std::string>& metadata = {});

}  // namespace engine
