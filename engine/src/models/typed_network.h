#pragma once

#include <string_view>
#include <vector>

#include "engine/settings/run_config.h"
#include "models/type_pass.h"

namespace engine::network {

/// Numbers of the symbols in shapes.
struct BatchSizes {
    std::int64_t samples = 1;  ///< N
    std::int64_t window = 1;   ///< T
};
double count_elements(const Sizes& sizes, const BatchSizes& batch);

/// A forward pass in training on types alone.
struct TypedForward {
    std::vector<PredictedType> operations{};
    std::vector<TypedCall> calls{};  ///< in the order in which they run
    std::vector<double> blocks{};    ///< bytes of each block of memory
    ValueType result{};
};
/// `gives`: as in the text. Throws Error(settings) if precision.force names an unknown module or
/// operation.
TypedForward run_on_types(const NetworkGraph& graph, std::string_view gives, const PrecisionConfig& precision, const BatchSizes& sizes);

}  // namespace engine::network
