#include "ops/linalg/products.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ops/shape/view.h"
#include "support/exact_values.h"

namespace engine {
namespace {

using test::bits;
using test::numbers;

/// A bias is added within the product. A whole matrix of its rows takes the other path.
TEST(Addmm, GivesABiasTheBitsOfAMatrixOfItsRows) {
    const std::int64_t shapes[][3] = {{1, 1, 1},      {5, 9, 7},       {20, 33, 65},
                                      {100, 96, 64},  {0, 3, 4},       {128, 768, 96},
                                      {40, 80, 4100}, {65, 1030, 300}, {700, 64, 129}};
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16})
        for (const auto& [m, n, k] : shapes) {
            const Tensor a = numbers({m, k}, dtype, 1), b = numbers({k, n}, dtype, 2);
            const Tensor bias = numbers({n}, dtype, 3);
            const Tensor rows = contiguous(expand(bias, {m, n}));
            EXPECT_EQ(bits(addmm(bias, a, b)), bits(addmm(rows, a, b)))
                << name(dtype) << ", " << m << " x " << k << " x " << n;
        }
}

TEST(Addmm, TakesABiasWithFactorsTimesItToo) {
    const Tensor a = numbers({5, 7}, DType::f32, 1), b = numbers({7, 9}, DType::f32, 2);
    const Tensor bias = numbers({9}, DType::f32, 3);
    const Tensor rows = contiguous(expand(bias, {5, 9}));
    EXPECT_EQ(bits(addmm(bias, a, b, 2, 1)), bits(addmm(rows, a, b, 2, 1)));
    EXPECT_EQ(bits(addmm(bias, a, b, 1, 3)), bits(addmm(rows, a, b, 1, 3)));
    EXPECT_EQ(bits(addmm(bias, a, b, 0, 1)), bits(addmm(rows, a, b, 0, 1)));
}

}  // namespace
}  // namespace engine
