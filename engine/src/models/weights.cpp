#include <algorithm>
#include <set>

#include "engine/error.h"
#include "models/model.h"
#include "ops/cast.h"
#include "ops/layout.h"
#include "store/safetensors.h"

namespace engine {
namespace {

DType dtype_of(const TensorEntry& entry) {
    if (entry.dtype == "F64") return DType::f64;
    if (entry.dtype == "F32") return DType::f32;
    if (entry.dtype == "F16") return DType::f16;
    if (entry.dtype == "BF16") return DType::bf16;
    if (entry.dtype == "I32") return DType::i32;
    return entry.dtype == "I64" ? DType::i64 : DType::u8;
}

void fill(const Tensor& target, const TensorEntry& entry) {
    const GradMode off(false);
    const Tensor source = Tensor::empty(target.shape(), dtype_of(entry), target.device());
    source.copy_from_host(entry.bytes.data());
    copy_into(target, to(source, target.dtype()));
    target.bump_version();
}

}  // namespace

void load_weights(Model& model, const std::string& path) {
    const SafetensorsFile file = SafetensorsFile::open(path);
    std::vector<Parameter> wanted = model.parameters();
    wanted.insert(wanted.end(), model.buffers().begin(), model.buffers().end());
    std::string wrong;
    std::set<std::string> known;
    for (const auto& [name, tensor, low] : wanted) {
        known.insert(name);
        const TensorEntry* entry = file.find(name);
        if (entry == nullptr) {
            // Buffers of plain counters are not in every file.
            if (!name.ends_with("num_batches_tracked")) wrong += " " + name + " is missing;";
        } else if (!(Shape(entry->shape) == tensor.shape())) {
            wrong += " " + name + " has shape " + to_string(Shape(entry->shape)) + ", not " +
                     to_string(tensor.shape()) + ";";
        } else {
            fill(tensor, *entry);
        }
    }
    for (const auto& entry : file.tensors()) {
        if (!known.contains(entry.name)) wrong += " " + entry.name + " is not in this model;";
    }
    if (wrong.empty()) return;
    wrong.pop_back();
    throw Error(ErrorCode::data, msg("{} does not fit the model:{}.", path, wrong),
                msg("Use weights of the same model, with PyTorch's names."));
}

namespace {

std::string module_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

/// The batch norms (they have a running_mean) that have weights.
std::set<std::string> affine_batch_norms(const Model& model) {
    std::set<std::string> with_weight, norms;
    for (const auto& parameter : model.parameters()) with_weight.insert(module_of(parameter.name));
    for (const auto& buffer : model.buffers()) {
        const std::string module = module_of(buffer.name);
        if (buffer.name == module + ".running_mean" && with_weight.contains(module))
            norms.insert(module);
    }
    return norms;
}

}  // namespace

void convert_weights(Model& model, DType dtype, bool keep_batch_norm) {
    const GradMode off(false);
    const std::set<std::string> norms = affine_batch_norms(model);
    const auto is_norm = [&](const std::string& name) { return norms.contains(module_of(name)); };
    const auto convert = [&](const Parameter& parameter) {
        const Tensor& tensor = parameter.tensor;
        if (!is_floating(tensor.dtype()) || (keep_batch_norm && is_norm(parameter.name))) return;
        // The layers hold the same TensorImpl, so the new storage is theirs too.
        const UseScope use(MemoryUse::weights);
        const Tensor low = to(tensor.detach(), dtype);
        tensor.impl()->storage = low.impl()->storage;
        tensor.impl()->dtype = dtype;
        tensor.impl()->strides = low.strides();
        tensor.impl()->offset = 0;
    };
    for (const auto& parameter : model.parameters()) convert(parameter);
    for (const auto& buffer : model.buffers()) convert(buffer);
}

std::vector<std::pair<std::string, Tensor>> saved_state(const Model& model) {
    const GradMode off(false);
    std::vector<std::pair<std::string, Tensor>> out;
    for (const auto* list : {&model.parameters(), &model.buffers()}) {
        for (const auto& entry : *list) {
            const Tensor values = entry.tensor.detach();
            out.emplace_back(entry.name, is_low(values.dtype()) ? to(values, DType::f32) : values);
        }
    }
    return out;
}

}  // namespace engine
