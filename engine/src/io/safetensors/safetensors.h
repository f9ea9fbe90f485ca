#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/file/atomic_file.h"

namespace engine {

/// One tensor of a safetensors file: dense, row-major, little-endian.
struct TensorEntry {
    std::string name;
    /// F64, F32, F16, BF16, I64, I32, I16, I8, U32, U16, U8 or BOOL
    std::string dtype;
    std::vector<std::int64_t> shape;   ///< empty: one number
    std::span<const std::byte> bytes;  ///< not aligned: copy them out
};

/// Bytes of one number of a dtype of TensorEntry; 0 for any other name.
std::size_t safetensors_item_bytes(const std::string& dtype);

/// A safetensors file, read whole (https://huggingface.co/docs/safetensors). Every claim of its
/// header is checked before it is used; files come from anywhere.
class SafetensorsFile {
public:
    /// Throws Error(data) for a file that is missing, damaged, of another kind, or holds a dtype
    /// that TensorEntry does not have.
    static SafetensorsFile open(const std::filesystem::path& path);

    /// The tensors in the order of their bytes. They point into this object, also after it was
    /// moved.
    const std::vector<TensorEntry>& tensors() const { return tensors_; }
    /// Null if there is none of that name.
    const TensorEntry* find(const std::string& name) const;
    const std::map<std::string, std::string>& metadata() const { return metadata_; }

    SafetensorsFile(SafetensorsFile&&) = default;
    SafetensorsFile& operator=(SafetensorsFile&&) = default;

private:
    SafetensorsFile() = default;
    std::vector<std::byte> data_;
    std::vector<TensorEntry> tensors_;
    std::unordered_map<std::string, const TensorEntry*> by_name_;
    std::map<std::string, std::string> metadata_;
};

/// Writes the file beside and renames it, so that a crash leaves either the old one or the new one,
/// whole. Throws Error(io), and Error(value) for invalid entries: a name twice, an unknown dtype,
/// bytes that do not fit the shape.
void write_safetensors(const std::filesystem::path& path, const std::vector<TensorEntry>& tensors,
                       const std::map<std::string, std::string>& metadata = {},
                       NamedBy by = NamedBy::person);

}  // namespace engine
