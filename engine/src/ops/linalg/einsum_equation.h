#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace engine {

/// An einsum equation read against its operands. Labels are numbers: those below `letters` are
/// letters, from A to Z, then a to z; the rest are the dimensions of "...", the last one last.
struct EinsumEquation {
    static constexpr int letters = 52;

    std::vector<std::vector<int>> operands;  // the label of each dimension
    std::vector<int> output;
};

/// "bij,bjk->bik": a letter for each dimension of an operand, "..." for any number of further ones.
/// Without "->" the result has the dimensions of "...", then the letters that occur once, in
/// order. Throws Error(value) for what is not an equation, Error(shape) where it does not fit the
/// operands: a label has one size, but for dimensions of size 1, which broadcast.
EinsumEquation read_einsum(const std::string& equation, const TensorList& operands);

}  // namespace engine
