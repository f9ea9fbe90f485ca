#pragma once

#include <string>
#include <vector>

#include "engine/instruments/precision_search.h"

namespace engine {

/// A module and an operation that runs in it.
struct OpPlace {
    std::string module;  ///< "": outside all modules
    std::string op;

    /// "module:operation", as precision.force takes it.
    std::string key() const { return module + ":" + op; }
    bool operator==(const OpPlace&) const = default;
};

/// All places in FP16 but for these.
ForcedTypes all_fp16_but(const std::vector<OpPlace>& places, const std::vector<OpPlace>& fp32);

/// Finds a 1-minimal set of places to keep in FP32: with it the error of gradients is within the
/// tolerance, and leaving out any one place exceeds it. Searches modules first, then operations
/// within the remaining modules. `error_of`: the error with the given types forced. Throws
/// Error(value) if no set passes, and Error(state) if `options` ends the search. Without a
/// tolerance the usual one applies.
FoundPrecision minimal_precision(const std::vector<OpPlace>& places,
                                 const PrecisionSearchOptions& options,
                                 const std::function<double(const ForcedTypes&)>& error_of);

}  // namespace engine
