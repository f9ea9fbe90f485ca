#include "linalg/addmm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "shape/view.h"

namespace engine {
namespace {

std::string bits(const Tensor& x) {
    std::string out(x.bytes(), '\0');
    std::memcpy(out.data(), x.data(), x.bytes());
    return out;
}

Tensor numbers(const Shape& shape, DType dtype, int seed) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
        values.push_back(std::sin(static_cast<double>(seed) + 1.7 * static_cast<double>(i)));
    return Tensor::of(values, shape, dtype, Device{});
}

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
