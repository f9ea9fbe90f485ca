#include <cstring>
#include <set>

#include "core/cast.h"
#include "core/restore.h"
#include "engine/error.h"
#include "models/model.h"
#include "pickle/torch_file.h"
#include "safetensors/tensor_file.h"

namespace engine {

std::vector<Place> state_places(const Model& model) {
    std::vector<Place> out;
    for (const auto* list : {&model.parameters(), &model.buffers()}) {
        for (const auto& entry : *list) {
            // Buffers of plain counters are not in every file.
            const bool counter = entry.name.ends_with("num_batches_tracked");
            out.push_back({entry.name, entry.tensor, false, counter});
        }
    }
    return out;
}

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
    if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
    const Tensor left = snapshot(a), right = snapshot(b);
    return std::memcmp(left.data(), right.data(), left.bytes()) == 0;
}

/// Keeps tied tensors in `saved` under their registered names only. PyTorch's state_dict has both
/// names; a writer that drops copies may keep either. Describes those that differ, as misfits()
/// does.
std::string resolve_aliases(const Model& model, TensorMap& saved) {
    std::string wrong;
    for (const TensorAlias& alias : model.aliases()) {
        const auto second = saved.extract(alias.name);
        if (second.empty()) continue;
        const auto [first, was_missing] = saved.try_emplace(alias.of, second.mapped());
        if (!was_missing && !same_bits(first->second, second.mapped()))
            wrong += (wrong.empty() ? "" : "; ") + alias.name + " differs from " + alias.of +
                     ", to which the model ties it";
    }
    return wrong;
}

/// Describes why `saved` does not fit the model; empty: it fits.
std::string all_misfits(const Model& model, const std::vector<Place>& places, TensorMap& saved) {
    const std::string differing = resolve_aliases(model, saved), other = misfits(places, saved);
    return differing + (differing.empty() || other.empty() ? "" : "; ") + other;
}

}  // namespace

namespace {

std::string module_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

/// Skips the tensors of the last layer if their shapes differ from the model's, so that they stay
/// as drawn.
void leave_out_head(const Model& model, std::vector<Place>& places, TensorMap& saved) {
    const std::string head = module_of(model.parameters().back().name);
    std::vector<Place*> of_head;
    bool differs = false;
    for (Place& place : places) {
        const auto found = saved.find(place.name);
        if (module_of(place.name) != head || found == saved.end()) continue;
        of_head.push_back(&place);
        differs = differs || !(found->second.shape() == place.tensor.shape());
    }
    if (!differs) return;
    for (Place* place : of_head) {
        place->may_be_missing = true;
        saved.erase(place->name);
    }
}

}  // namespace

void load_weights(Model& model, const std::string& path, Head head) {
    TensorMap tensors = is_torch_file(path) ? load_torch_tensors(path) : load_tensors(path);
    std::vector<Place> places = state_places(model);
    if (head == Head::drawn_if_other) leave_out_head(model, places, tensors);
    const std::string wrong = all_misfits(model, places, tensors);
    if (!wrong.empty())
        throw Error(ErrorCode::data, msg("{} does not fit the model:{}.", path, " " + wrong),
                    msg("Use weights of the same model, with PyTorch's names."));
    fill(places, tensors);
}

void load_state(Model& model, TensorMap saved) {
    const std::vector<Place> places = state_places(model);
    const std::string wrong = all_misfits(model, places, saved);
    if (!wrong.empty())
        throw Error(ErrorCode::value, "the saved state does not fit the model: " + wrong,
                    "Load the state of the same model, with PyTorch's names.");
    fill(places, saved);
}

namespace {

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

TensorMap saved_state(const Model& model) {
    const GradMode off(false);
    TensorMap out;
    for (const Place& place : state_places(model)) {
        const Tensor values = snapshot(place.tensor);
        out[place.name] = is_low(values.dtype()) ? to(values, DType::f32) : values;
    }
    return out;
}

}  // namespace engine
