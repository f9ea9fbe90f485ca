#pragma once

#include <string_view>
#include <vector>

#include "kernels/elementwise.h"

/// The rows of kernels/elementwise_functions.inc.
namespace kernels::test {

template <class Op>
struct ElementwiseRow {
    Op op;
    std::string_view name, cuda, numbers;

    /// Whether every backend gives the same bits.
    bool exact() const { return cuda.starts_with("simple"); }
    bool takes_integers() const { return numbers == "integer"; }
};

inline const std::vector<ElementwiseRow<UnaryOp>> unary_rows = {
#define HALFTONE_UNARY(name, cpu, cuda, numbers) {UnaryOp::name, #name, #cuda, #numbers},
#include "kernels/elementwise_functions.inc"
};
inline const std::vector<ElementwiseRow<BinaryOp>> binary_rows = {
#define HALFTONE_BINARY(name, cpu, cuda, numbers) {BinaryOp::name, #name, #cuda, #numbers},
#include "kernels/elementwise_functions.inc"
};
inline const std::vector<CompareOp> compare_ops = {
#define HALFTONE_COMPARE(name, relation) CompareOp::name,
#include "kernels/elementwise_functions.inc"
};

}  // namespace kernels::test
