#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>

#include "ops/catalog/op_case.h"

namespace engine {

/// The recipe of a name; none: it is unknown.
using RecipeByName = std::function<std::optional<Recipe>(const std::string&)>;

/// As run_op_script(cases, results), and the field `recipe` of a case has one of these recipes.
int run_op_script(std::istream& cases, std::ostream& results, const RecipeByName& recipe_of);

}  // namespace engine
