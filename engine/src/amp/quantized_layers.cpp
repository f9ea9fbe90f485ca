#include <algorithm>
#include <cmath>
#include <utility>

#include "amp/recipe.h"
#include "tensor/tape.h"

namespace engine {
namespace {

bool is_inside(std::string_view outer, std::string_view module) {
    return module.starts_with(outer) &&
           (module.size() == outer.size() || module[outer.size()] == '.');
}

}  // namespace

std::optional<Recipe> RecipePlan::find(std::string_view module) const {
    if (module.empty()) return {};
    const bool covered =
        std::ranges::none_of(kept, [&](const std::string& outer) { return is_inside(outer, module); });
    std::optional<Recipe> out = covered ? recipe : std::nullopt;
    std::size_t longest = 0;
    for (const auto& [outer, own] : forced) {
        if (!is_inside(outer, module) || outer.size() < longest) continue;
        longest = outer.size();
        out = own;
    }
    if (!out) return out;
    for (const auto& [outer, products] : skipped)
        for (std::size_t i = 0; i < products.size(); ++i)
            out->kept[i] = out->kept[i] || (products[i] && is_inside(outer, module));
    const bool all = std::ranges::all_of(out->kept, [](bool each) { return each; });
    return all ? std::nullopt : out;
}

std::shared_ptr<QuantizedLayer> QuantizedLayers::find(std::string_view module) {
    if (const auto found = layers_.find(module); found != layers_.end()) return found->second;
    const auto place = std::ranges::find(modules_, module) - modules_.begin();
    const std::optional<Recipe> recipe = plan_.find(module);
    auto layer = recipe ? std::make_shared<QuantizedLayer>(*recipe, now_,
                                                           static_cast<std::uint64_t>(place))
                        : nullptr;
    if (layer != nullptr) restore(std::string(module), *layer);
    return layers_.emplace(module, std::move(layer)).first->second;
}

std::shared_ptr<QuantizedLayer> quantized_layer() {
    QuantizedLayers* const layers = autocast_state().quantized;
    if (layers == nullptr) return nullptr;
    auto layer = layers->find(current_module());
    const bool suspended = layer != nullptr && inference_mode() && !layer->recipe().evaluates;
    return suspended ? nullptr : layer;
}

namespace {

constexpr const char* operand_names[] = {"x", "w", "g"};

Tensor as_tensor(const std::vector<float>& values) {
    const Tensor out = Tensor::empty({std::ssize(values)}, DType::f32, Device{});
    std::ranges::copy(values, out.data_as<float>());
    return out;
}

std::vector<float> as_numbers(const TensorMap& from, const std::string& name) {
    const auto found = from.find(name);
    if (found == from.end() || found->second.dtype() != DType::f32) return {};
    const auto* const first = found->second.data_as<float>();
    return {first, first + found->second.numel()};
}

/// f(name, scale) for the delayed scales of a layer.
template <class F>
void for_each_scale(const std::string& module, QuantizedLayer& layer, const F& f) {
    for (std::size_t i = 0; i < layer.delayed().size(); ++i)
        f(module + '.' + operand_names[i], layer.delayed()[i]);
}

}  // namespace

TensorMap QuantizedLayers::saved_state() const {
    TensorMap out = loaded_;
    for (const auto& [module, layer] : layers_) {
        if (layer == nullptr) continue;
        for_each_scale(module, *layer, [&](const std::string& name, const DelayedScale& scale) {
            out[name + ".scale"] = as_tensor({scale.scale()});
            out[name + ".history"] = as_tensor(scale.history());
        });
    }
    return out;
}

void QuantizedLayers::load_state(const TensorMap& saved, std::int64_t steps) {
    const auto delayed = [](const std::optional<Recipe>& recipe) {
        return recipe && recipe->rule == ScaleBasis::delayed;
    };
    const bool some = delayed(plan_.recipe) || std::ranges::any_of(plan_.forced, [&](const auto& each) {
                          return delayed(each.second);
                      });
    loaded_ = some ? saved : TensorMap();
    now_.step = steps;
    layers_.clear();  // find() makes them again
    casts_ = {};
}

void QuantizedLayers::restore(const std::string& module, QuantizedLayer& layer) const {
    if (layer.recipe().forgets_history) return;
    for_each_scale(module, layer, [&](const std::string& name, DelayedScale& scale) {
        const std::vector<float> value = as_numbers(loaded_, name + ".scale");
        if (value.size() == 1) scale.restore(value.front(), as_numbers(loaded_, name + ".history"));
    });
}

/// The largest magnitudes of all ranks, for delayed scales; infinity stands for a value that is not
/// finite.
void QuantizedLayers::share_magnitudes() {
    std::vector<float> all(3 * modules_.size());
    const auto for_each = [&](const auto& f) {
        for (std::size_t i = 0; i < modules_.size(); ++i) {
            const auto found = layers_.find(modules_[i]);
            if (found == layers_.end() || found->second == nullptr) continue;
            if (!found->second->recipe().shares_history) continue;
            std::vector<DelayedScale>& scales = found->second->delayed();
            for (std::size_t k = 0; k < scales.size(); ++k) f(all[3 * i + k], scales[k].step());
        }
    };
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for_each([](float& slot, const kernels::BlockRange& step) {
        slot = step.nonfinite ? infinity : step.amax;
    });
    now_.largest_of_ranks(all);
    for_each([](const float& slot, kernels::BlockRange& step) {
        step.nonfinite = slot == infinity;
        step.amax = slot;
    });
}

void QuantizedLayers::end_step() {
    if (now_.largest_of_ranks) share_magnitudes();
    casts_ = {};
    samples_.clear();
    for (const auto& [module, layer] : layers_) {
        if (layer == nullptr) continue;
        for (OperandSample& each : layer->take_samples()) {
            each.module = module;
            samples_.push_back(std::move(each));
        }
        const StepCasts step = layer->end_step();
        for (std::size_t i = 0; i < step.size(); ++i) casts_[i].add(step[i]);
    }
    now_.share = {};
    now_.examines = false;
    ++now_.step;
}

float QuantizedLayers::kept_share() const {
    using enum LayerProduct;
    int kept = 0, all = 0;
    for (const auto& [module, layer] : layers_)
        for (const LayerProduct each : {forward, input_gradient, weight_gradient}) {
            ++all;
            kept += layer == nullptr || !layer->quantizes(each) ? 1 : 0;
        }
    return static_cast<float>(kept) / static_cast<float>(all);
}

std::vector<MetLayer> QuantizedLayers::met() const {
    std::vector<MetLayer> out;
    for (const auto& [module, layer] : layers_) out.push_back({module, layer});
    return out;
}

const Recipe& QuantizedLayers::recipe() const {
    if (plan_.recipe) return *plan_.recipe;
    const auto own = [](const auto& each) { return each.second.has_value(); };
    return *std::ranges::find_if(plan_.forced, own)->second;
}

}  // namespace engine
