#pragma once

#include <vector>

#include "tensor/tensor.h"

// Saving and restoring the tensors of models and optimizers.
namespace engine {

/// A copy of x on the host, row-major.
Tensor snapshot(const Tensor& x);

/// A tensor that takes the values saved under its name.
struct Place {
    std::string name;
    Tensor tensor;
    /// Requires the same type. Otherwise any floating type fits a floating one, and any integer
    /// type an integer one.
    bool exact = false;
    bool may_be_missing = false;
};

/// Why `saved` does not fit these places, a sentence for each name that is missing, unknown, of
/// another shape or type. Empty: it fits.
std::vector<std::string> all_misfits(const std::vector<Place>& places, const TensorMap& saved);
/// The first five of them in a line, and how many more there are.
std::string first_of(const std::vector<std::string>& misfits);
/// Both: empty if `saved` fits.
inline std::string misfits(const std::vector<Place>& places, const TensorMap& saved) {
    return first_of(all_misfits(places, saved));
}

/// Writes saved values into their places, which keep their memory, layout and device; a value in
/// another type is rounded once. A weight's 16-bit copy (decisions.md#low-precision-weights, D6)
/// follows.
void fill(const std::vector<Place>& places, const TensorMap& saved);

}  // namespace engine
