#include "io/safetensors/tensor_file.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "io/safetensors/safetensors.h"
#include "tensor/layout.h"

namespace engine {
namespace {

struct Name {
    DType dtype;
    const char* in_file;
};
constexpr Name names[] = {{DType::f64, "F64"},   {DType::f32, "F32"},     {DType::f16, "F16"},
                          {DType::bf16, "BF16"}, {DType::i64, "I64"},     {DType::i32, "I32"},
                          {DType::u8, "U8"},     {DType::boolean, "BOOL"}};

template <typename From, typename To>
Tensor widened(const TensorEntry& entry, DType dtype) {
    Tensor out = Tensor::empty(Shape(entry.shape), dtype, Device{});
    std::vector<From> values(entry.bytes.size() / sizeof(From));
    std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
    std::copy(values.begin(), values.end(), out.data_as<To>());
    return out;
}

/// The tensor of an integer type that is no DType, in the next wider one.
Tensor widened(const TensorEntry& entry) {
    if (entry.dtype == "I8") return widened<std::int8_t, std::int32_t>(entry, DType::i32);
    if (entry.dtype == "I16") return widened<std::int16_t, std::int32_t>(entry, DType::i32);
    if (entry.dtype == "U16") return widened<std::uint16_t, std::int32_t>(entry, DType::i32);
    return widened<std::uint32_t, std::int64_t>(entry, DType::i64);
}

}  // namespace

TensorMap load_tensors(const std::filesystem::path& path) {
    const SafetensorsFile file = SafetensorsFile::open(path);
    TensorMap tensors;
    for (const auto& entry : file.tensors()) {
        if (entry.shape.size() > Dims::max_rank) {
            throw Error(ErrorCode::data, msg("{}: tensor {} has {} dimensions, the most is 8",
                                             path.string(), entry.name, entry.shape.size()));
        }
        const auto* name = std::find_if(std::begin(names), std::end(names),
                                        [&](const Name& n) { return entry.dtype == n.in_file; });
        if (name == std::end(names)) {
            tensors[entry.name] = widened(entry);
            continue;
        }
        const Tensor tensor = Tensor::empty(Shape(entry.shape), name->dtype, Device{});
        if (!entry.bytes.empty()) tensor.copy_from_host(entry.bytes.data());
        tensors[entry.name] = tensor;
    }
    return tensors;
}

void save_tensors(const std::filesystem::path& path, const TensorMap& tensors, NamedBy by,
                  const std::map<std::string, std::string>& metadata) {
    std::vector<TensorEntry> entries;
    TensorList kept;
    for (const auto& [name, tensor] : tensors) {
        const Tensor row_major = in_layout(tensor, Layout::contiguous).copy_to(Device{});
        const auto* type = std::find_if(std::begin(names), std::end(names), [&](const Name& n) {
            return n.dtype == row_major.dtype();
        });
        const Shape& shape = row_major.shape();
        entries.push_back({name,
                           type->in_file,
                           {shape.begin(), shape.end()},
                           {row_major.data_as<std::byte>(), row_major.bytes()}});
        kept.push_back(row_major);
    }
    write_safetensors(path, entries, metadata, by);
}

}  // namespace engine
