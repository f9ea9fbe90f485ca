#pragma once

#include <iosfwd>

namespace engine {

/// As run_op_script() of engine/ops/op_script.h; the field `recipe` of a case names one of
/// recipe_infos(), by which linear and addmm are computed.
int run_op_script_with_recipes(std::istream& cases, std::ostream& results);

}  // namespace engine
