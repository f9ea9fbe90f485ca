#pragma once

#include <string>
#include <vector>

#include "engine/precision_search.h"

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

/// Finds a set of places to keep in FP32 that is 1-minimal: the error of gradients stays within the
/// tolerance, and no longer does so without any one of them. Modules first, then operations in the
/// modules that are left. `error_of`: the error with types forced. Throws Error(value) where no set
/// passes, and Error(state) where `options` ends the search. Without a tolerance the usual one
/// holds.
FoundPrecision minimal_precision(const std::vector<OpPlace>& places,
                                 const PrecisionSearchOptions& options,
                                 const std::function<double(const ForcedTypes&)>& error_of);

}  // namespace engine
