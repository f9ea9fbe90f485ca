#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amp/autocast.h"
#include "amp/dispatch.h"
#include "engine/settings/run_config.h"
#include "models/forced_types.h"
#include "models/recipes.h"
#include "models/model.h"
#include "optim/loss_scaler.h"
#include "tasks/task.h"

namespace engine {

/// Applies the precision settings (interfaces.md, section 1): autocast region, forced types, recipe,
/// casts around the model, and loss scaler.
class MixedPrecision {
public:
    /// Casts the model's weights as the settings say. Throws Error(settings) if they force the type
    /// of an unknown module or operation. `broken`: a scaler in place of that of the settings.
    /// `recipes`: of the run.
    MixedPrecision(const ResolvedPrecision& precision, const ScalerConfig& scaler, Model& model,
                   const Device& device, std::unique_ptr<LossScaler> broken = nullptr,
                   const RecipeSettings& recipes = {});

    /// f within the autocast region, if there is one, with the forced types and the recipe.
    template <typename F>
    auto run(F&& f) const {
        const ForceScope forced(force_);
        const RecipeScope quantized(quantized_.get());
        if (!region_) return f();
        const auto entered = region_->enter();
        return f();
    }
    const TaskStep::Casts& casts() const { return casts_; }
    /// The type that autocast casts the operands of products and convolutions to. None: there is no
    /// autocast, or types are forced, so that it depends on the operation.
    std::optional<DType> low_type() const {
        return region_ && region_->enabled() && !force_ ? std::optional(region_->low())
                                                        : std::nullopt;
    }
    /// Sets a function that changes the model's outputs in place from now on; null: none. Must
    /// outlive its use.
    void set_planted(const std::function<void(TensorList&)>* planted) { casts_.planted = planted; }
    /// Gives the f32 parameters that autocast casts a 16-bit copy, which the optimizer writes as it
    /// updates them (decisions.md#low-precision-weights, D6): no step casts a weight.
    void attach_low_copies(const Model& model) const;

    /// Null without a recipe.
    QuantizedLayers* quantized() const { return quantized_.get(); }
    LossScaler& scaler() { return *scaler_; }
    const LossScaler& scaler() const { return *scaler_; }
    /// 0-d f32 on the device; undefined without a scaler.
    const Tensor& loss_scale() const { return scaler_->scale(); }
    /// f16 gradients of the backward pass are worth watching: they are scaled, and may overflow.
    bool watches_f16() const { return watches_f16_; }

private:
    std::shared_ptr<const ForceRules> force_;
    std::unique_ptr<QuantizedLayers> quantized_;
    std::optional<AutocastRegion> region_;
    TaskStep::Casts casts_;
    std::unique_ptr<LossScaler> scaler_;
    bool watches_f16_;
};

}  // namespace engine
