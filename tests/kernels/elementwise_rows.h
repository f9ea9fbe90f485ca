#pragma once

#include <string_view>
#include <vector>

#include "kernels/elementwise.h"
#include "kernels/support.h"

/// The rows of kernels/elementwise_functions.inc, and operands for them.
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

inline Buffer special_values(DType dtype) {
    Buffer x(dtype, {0.0,     -0.0,    1.0,        -1.0,       65504.0,  -65504.0, 65519.99,
                     65520.0, 0x1p-25, 0x1p-24,    0x1p-14,    0x1p-149, 0x1p-130, 11.09,
                     88.72,   88.73,   -87.3,      -95.0,      -103.9,   -104.1,   0.6249,
                     0.6251,  9.0,     0.70710678, 1.41421356, 3e38,     1e-30});
    Buffer all(dtype, x.size() + 3);
    std::memcpy(all.array().data, x.bytes().data(), x.bytes().size());
    all.set(x.size(), static_cast<double>(infinity));
    all.set(x.size() + 1, static_cast<double>(-infinity));
    all.set(x.size() + 2, static_cast<double>(nan));
    return all;
}

}  // namespace kernels::test
