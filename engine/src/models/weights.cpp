#include <algorithm>
#include <cstring>
#include <set>

#include "engine/base/error.h"
#include "io/pickle/torch_file.h"
#include "io/safetensors/tensor_file.h"
#include "models/detection_model.h"
#include "models/weight_names.h"
#include "tensor/cast.h"
#include "tensor/restore.h"

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
/// names; a writer that drops copies may keep either. Describes those that differ, as
/// all_misfits() does.
std::vector<std::string> resolve_aliases(const Model& model, TensorMap& saved) {
    std::vector<std::string> wrong;
    for (const TensorAlias& alias : model.aliases()) {
        const auto second = saved.extract(alias.name);
        if (second.empty()) continue;
        const auto [first, was_missing] = saved.try_emplace(alias.of, second.mapped());
        if (!was_missing && !same_bits(first->second, second.mapped()))
            wrong.push_back(alias.name + " differs from " + alias.of +
                            ", to which the model ties it");
    }
    return wrong;
}

/// Why `saved`, with resolved aliases, does not fit the model; empty: it fits.
std::string why_unfit(std::vector<std::string> differing, const std::vector<Place>& places,
                      const TensorMap& saved) {
    for (std::string& other : all_misfits(places, saved)) differing.push_back(std::move(other));
    return first_of(differing);
}

std::string module_of(const std::string& name) { return name.substr(0, name.rfind('.')); }

/// The module of the last layer. BERT's head has several layers, under a name of their own.
std::string head_of(const Model& model) {
    const std::string& last = model.parameters().back().name;
    return last.starts_with("cls.") ? "cls" : module_of(last);
}

/// The last layers: those whose size follows from the classes.
std::vector<std::string> heads_of(const Model& model) {
    if (dynamic_cast<const DetectionModel*>(&model) == nullptr) return {head_of(model)};
    return {"roi_heads.box_predictor", "roi_heads.mask_predictor.mask_fcn_logits"};
}

/// The part of a detector that is a network for classification.
constexpr const char* body_prefix = "backbone.body.";

/// Reads the weights of a model's file into it.
class WeightLoad {
public:
    WeightLoad(Model& model, const std::string& path)
        : model_(model), path_(path), places_(state_places(model)) {}

    void open(const std::string& key) {
        std::string prefix = key;
        if (is_torch_file(path_)) {
            TorchWeights read = load_torch_weights(path_, key);
            if (read.key == key) prefix.clear();
            note_others(read);
            tensors_ = std::move(read.tensors);
        } else {
            tensors_ = load_tensors(path_);
        }
        fit_ = fit_names(names(), path_, prefix, tensors_);
        differing_ = resolve_aliases(model_, tensors_);
        if (!fit_.left_out.empty())
            notes_.push_back(msg("{}: tensors that the model does not have are left out: {}", path_,
                                 first_of(fit_.left_out)));
        round_counters();
    }

    /// Leaves the last layer as drawn unless the file has all of it in the model's shapes.
    void leave_out_head() {
        const bool whole = std::ranges::all_of(places_, [&](const Place& place) {
            if (!of_head(place)) return true;
            const auto found = tensors_.find(place.name);
            return found == tensors_.end() ? place.may_be_missing
                                           : found->second.shape() == place.tensor.shape();
        });
        if (!whole) draw_head();
    }

    /// A bare BertModel has no head for masked language modelling, as its names show.
    void leave_out_absent_head() {
        if (fit_.added.empty() || head_of(model_).starts_with(fit_.added) || !lacks_head_alone())
            return;
        draw_head();
        notes_.push_back(msg("{}: holds the model without its head {}, which is drawn anew", path_,
                             head_of(model_)));
    }

    /// The weights of a network for classification are a detector's body.
    void leave_out_all_but_the_body() {
        if (fit_.added != body_prefix) return;
        for (Place& place : places_)
            if (!place.name.starts_with(body_prefix)) place.may_be_missing = true;
        std::erase_if(tensors_, [](const auto& item) {
            return item.first.starts_with(std::string(body_prefix) + "fc.");
        });
        notes_.push_back(msg("{}: holds the body of the detector alone, and all else is drawn anew",
                             path_));
    }

    void fill() {
        const std::string wrong = why_unfit(std::move(differing_), places_, tensors_);
        if (!wrong.empty()) {
            throw Error(ErrorCode::data, msg("{} does not fit the model:{}.", path_, " " + wrong),
                        lacks_head_alone() || has_other_head_alone()
                            ? msg("To draw the last layer anew, set model.new_head to true.")
                            : msg("Use weights of the same model, with PyTorch's names."));
        }
        engine::fill(places_, tensors_);
    }

    std::vector<Message> take_notes() { return std::move(notes_); }

private:
    std::set<std::string> names() const {
        std::set<std::string> out;
        for (const Place& place : places_) out.insert(place.name);
        for (const TensorAlias& alias : model_.aliases()) out.insert(alias.name);
        return out;
    }

    bool of_head(const Place& place) const {
        return std::ranges::any_of(heads_of(model_), [&](const std::string& head) {
            return place.name.starts_with(head + ".");
        });
    }

    /// Whether the file has all layers but the last.
    bool lacks_head_alone() const {
        return std::ranges::all_of(places_, [&](const Place& place) {
            const auto found = tensors_.find(place.name);
            if (found == tensors_.end()) return of_head(place) || place.may_be_missing;
            return !of_head(place) && found->second.shape() == place.tensor.shape();
        });
    }

    /// Whether the file has all layers, and only the last in other shapes.
    bool has_other_head_alone() const {
        bool other = false;
        return std::ranges::all_of(places_,
                                   [&](const Place& place) {
                                       const auto found = tensors_.find(place.name);
                                       if (found == tensors_.end()) return place.may_be_missing;
                                       if (found->second.shape() == place.tensor.shape())
                                           return true;
                                       other = true;
                                       return of_head(place);
                                   }) &&
               other;
    }

    void draw_head() {
        for (Place& place : places_) {
            if (!of_head(place)) continue;
            place.may_be_missing = true;
            tensors_.erase(place.name);
        }
    }

    void note_others(const TorchWeights& read) {
        if (read.others.empty()) return;
        notes_.push_back(
            msg("{}: the weights under {} are read; it also holds {}. Choose with "
                "model.init_key.",
                path_, read.key, first_of(read.others)));
    }

    /// Averages of models count batches in floating point.
    void round_counters() {
        for (const Place& place : places_) {
            const auto found = tensors_.find(place.name);
            if (found == tensors_.end() || is_floating(place.tensor.dtype()) ||
                !is_floating(found->second.dtype()) || found->second.numel() != 1)
                continue;
            found->second = to(found->second, place.tensor.dtype());
        }
    }

    Model& model_;
    const std::string& path_;
    std::vector<Place> places_;
    TensorMap tensors_;
    NameFit fit_;
    std::vector<std::string> differing_;
    std::vector<Message> notes_;
};

}  // namespace

std::vector<Message> load_weights(Model& model, const std::string& path, Head head,
                                  const std::string& key) {
    WeightLoad load(model, path);
    load.open(key);
    if (head == Head::drawn_if_other) load.leave_out_head();
    if (dynamic_cast<const DetectionModel*>(&model) != nullptr)
        load.leave_out_all_but_the_body();
    else
        load.leave_out_absent_head();
    load.fill();
    return load.take_notes();
}

void load_state(Model& model, TensorMap saved) {
    const std::vector<Place> places = state_places(model);
    const std::string wrong = why_unfit(resolve_aliases(model, saved), places, saved);
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
    for (const auto& buffer : model.buffers())
        if (buffer.name.ends_with(".weight")) with_weight.insert(module_of(buffer.name));
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
