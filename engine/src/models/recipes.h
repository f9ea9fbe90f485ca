#pragma once

#include <memory>
#include <string>
#include <vector>

#include "amp/recipe.h"
#include "engine/settings/run_config.h"
#include "models/model.h"

namespace engine {

/// Settings on which recipes depend.
struct RecipeSettings {
    QuantizeConfig quantize = {};
    std::int64_t seed = 0;  ///< of the run
    // From TeachConfig.
    double fixed_scale = 0;
    std::int64_t sum_bits = 0, promote_every = 128;
    bool forgets_history = false;
};
RecipeSettings recipe_settings(const RunConfig& config);

/// How the recipe of the settings casts. Not for RecipeKind::none.
Recipe make_recipe(RecipeKind kind, const RecipeSettings& settings = {});

/// Modules of the model whose own parameter a recipe multiplies with: linear layers, and with
/// `convolutions` these.
std::vector<std::string> product_modules(const Model& model, bool convolutions);

/// The layers of the model under these recipes: of the precision's one all but the output layer, the
/// blocks that the settings or the recipe keep, and the first convolution. Null without a recipe.
/// Throws Error(settings) for a model without a product that a recipe covers, and for names in
/// precision.force and quantize.skip that are no module with one.
std::unique_ptr<QuantizedLayers> make_quantized_layers(const ResolvedPrecision& precision,
                                                       const Model& model,
                                                       const RecipeSettings& settings);

}  // namespace engine
