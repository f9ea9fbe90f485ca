#pragma once

#include <string>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// A recipe of precision.recipe in words (resources/handbook/low-bits.md).
struct RecipeInfo {
    std::string kind;      ///< as precision.recipe
    std::string title;     ///< "FP8, current scales"
    std::string forward;   ///< format of inputs and weights, "E4M3"
    std::string gradient;  ///< format of the gradients of outputs
    std::string scale;     ///< what a scale belongs to, and the formula
    bool random_gradients; ///< they are rounded at random
    bool rotates_rows;     ///< of both operands of a weight's gradient
};

/// All recipes, in the order of the settings.
std::vector<RecipeInfo> recipe_infos();

}  // namespace engine
