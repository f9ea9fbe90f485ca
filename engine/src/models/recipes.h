#pragma once

#include <memory>

#include "amp/recipe.h"
#include "engine/settings/run_config.h"
#include "models/model.h"

namespace engine {

/// How the recipe of the settings casts. Not for RecipeKind::none.
Recipe make_recipe(RecipeKind kind);

/// The layers of the model under this recipe, all but its output layer and, for nvfp4, its last
/// blocks. `seed`: of the run. Null for RecipeKind::none.
std::unique_ptr<QuantizedLayers> make_quantized_layers(RecipeKind kind, const Model& model,
                                                       std::int64_t seed);

}  // namespace engine
