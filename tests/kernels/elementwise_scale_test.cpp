#include <gtest/gtest.h>

#include "kernels/elementwise.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

TEST(Axpby, AddsTwoScaledArraysWithOneRounding) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size : {0, 1, 31, 33, 1000}) {
                const Buffer a = random_buffer(dtype, size, 1);
                const Buffer b = random_buffer(dtype, size, 2);
                Buffer y = b;
                cpu::axpby(y, a, y, 0.75, -0.5, {});  // exact products: alpha and beta are powers
                for (std::int64_t i = 0; i < size; ++i) {
                    const double expected = 0.75 * a.get(i) - 0.5 * b.get(i);
                    // 0.75 a takes 2 bits more than a: an f32 rounding of its own without FMA.
                    const double slack = 0x1p-24 * (std::fabs(a.get(i)) + std::fabs(expected));
                    ASSERT_TRUE(near(y.get(i), expected, dtype, slack));
                }
            }
    });
}

TEST(ScaleBy, MultipliesByADeviceScalarWithOneRounding) {
    const float scale = 1.0f / 3;
    on_every_target([&] {
        for (DType dtype : floating) {
            const Buffer x = random_buffer(dtype, 1000, 3);
            Buffer y(dtype, x.size());
            cpu::scale_by(y, x, &scale, {});
            for (std::int64_t i = 0; i < x.size(); ++i) {
                const double exact = x.get(i) * static_cast<double>(scale);
                const double product =
                    dtype == DType::f64 ? exact : static_cast<double>(static_cast<float>(exact));
                ASSERT_EQ(y.get(i), stored(dtype, product));
            }
        }
    });
}

TEST(Fill, RoundsTheValueToTheTypeAndFillsEverySize) {
    for (DType dtype :
         {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::u8, DType::boolean})
        for (std::int64_t size : sizes) {
            Buffer y(dtype, size);
            cpu::fill(y, 3.3, {});
            const double expected = dtype == DType::boolean ? 1
                                    : is_floating(dtype)    ? stored(dtype, 3.3)
                                                            : 3;
            for (double v : y.values()) ASSERT_EQ(v, expected);
        }
}

TEST(AddBias, AddsItToEveryRowAndClampsWhereAsked) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t cols : {1, 2, 31, 33, 64}) {
                const std::int64_t rows = 37;
                const Buffer x = random_buffer(dtype, rows * cols, 4);
                const Buffer bias = random_buffer(dtype, cols, 5);
                for (bool relu : {false, true}) {
                    Buffer y = x;
                    cpu::add_bias(y, y, bias, relu, {});
                    for (std::int64_t i = 0; i < x.size(); ++i) {
                        double expected = x.get(i) + bias.get(i % cols);
                        if (relu && expected <= 0) expected = 0;
                        const double slack = dtype == DType::f64 || dtype == DType::f32
                                                 ? 0
                                                 : half_ulp(DType::f32, expected);
                        ASSERT_TRUE(near(y.get(i), expected, dtype, slack));
                    }
                }
            }
    });
}

TEST(AddBias, GivesTheSameForEveryThreadCount) {
    const Buffer x = random_buffer(DType::bf16, 2000 * 64, 6);
    const Buffer bias = random_buffer(DType::bf16, 64, 7);
    Buffer expected(DType::bf16, x.size());
    cpu::add_bias(expected, x, bias, true, {});
    with_threads([&](int) {
        Buffer y(DType::bf16, x.size());
        cpu::add_bias(y, x, bias, true, {});
        EXPECT_EQ(y.bytes(), expected.bytes());
    });
}

TEST(AbsMax, FindsTheLargestMagnitude) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size : sizes) {
                Buffer x = random_buffer(dtype, size, 8);
                if (size > 0) x.set(size - 1, -77);
                with_threads([&](int) {
                    float result = 0;
                    cpu::abs_max(&result, x, {});
                    ASSERT_EQ(result, size > 0 ? 77.0f : 0.0f);
                    result = 100;
                    cpu::abs_max(&result, x, {});
                    ASSERT_EQ(result, 100.0f);
                });
            }
    });
}

TEST(AbsMax, KeepsInfinityAndNaN) {
    on_every_target([] {
        for (DType dtype : floating) {
            Buffer x = random_buffer(dtype, 100, 9);
            float result = 0;
            x.set(40, static_cast<double>(-infinity));
            cpu::abs_max(&result, x, {});
            EXPECT_EQ(result, infinity);
            x.set(99, static_cast<double>(nan));
            cpu::abs_max(&result, x, {});
            EXPECT_TRUE(std::isnan(result));
        }
    });
}

/// Row-major strides of a shape, times `step`.
std::array<std::int64_t, max_rank> dense(const std::vector<std::int64_t>& shape) {
    std::array<std::int64_t, max_rank> strides{};
    std::int64_t size = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
        strides[k] = size;
        size *= shape[k];
    }
    return strides;
}

/// Copies with x's strides as given and y dense, and checks every element by its index.
void expect_copy(DType dtype, const std::vector<std::int64_t>& shape,
                 const std::vector<std::int64_t>& x_strides, std::int64_t x_size) {
    Buffer x(dtype, x_size);
    for (std::int64_t i = 0; i < x_size; ++i) x.set(i, static_cast<double>(i % 251));
    std::int64_t size = 1;
    for (auto n : shape) size *= n;
    Buffer y(dtype, size);
    Strided to{y.array().data, dtype, static_cast<int>(shape.size()), {}, dense(shape)};
    ConstStrided from{x.view().data, dtype, to.rank, {}, {}};
    std::copy(shape.begin(), shape.end(), to.shape.begin());
    from.shape = to.shape;
    std::copy(x_strides.begin(), x_strides.end(), from.strides.begin());
    with_threads([&](int) {
        cpu::fill(y, 99, {});
        cpu::copy_strided(to, from, {});
        for (std::int64_t i = 0; i < size; ++i) {
            std::int64_t rest = i, at = 0;
            for (std::size_t k = shape.size(); k-- > 0;) {
                at += rest % shape[k] * x_strides[k];
                rest /= shape[k];
            }
            ASSERT_EQ(y.get(i), x.get(at)) << "element " << i;
        }
    });
}

TEST(CopyStrided, TransposesPermutesAndBroadcasts) {
    for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::u8}) {
        expect_copy(dtype, {7, 5}, {1, 7}, 35);
        expect_copy(dtype, {300, 257}, {1, 300}, 300 * 257);
        expect_copy(dtype, {2, 3, 16, 17}, {16 * 17 * 3, 1, 17 * 3, 3}, 2 * 3 * 16 * 17);
        expect_copy(dtype, {2, 16, 17, 3}, {16 * 17 * 3, 17, 1, 16 * 17}, 2 * 3 * 16 * 17);
        expect_copy(dtype, {4, 33}, {0, 1}, 33);
        expect_copy(dtype, {33, 4}, {1, 0}, 33);
        expect_copy(dtype, {5, 4}, {8, 2}, 40);
        expect_copy(dtype, {200, 1000}, {1000, 1}, 200000);
        expect_copy(dtype, {}, {}, 1);
        expect_copy(dtype, {1, 1}, {5, 3}, 1);
    }
}

TEST(CopyStrided, WritesIntoStridedMemoryAndLeavesTheGaps) {
    const Buffer x(DType::f32, {1, 2, 3, 4, 5, 6});
    Buffer y(DType::f32, std::vector<double>(12, -1));
    cpu::copy_strided({y.array().data, DType::f32, 2, {2, 3}, {2, 4}},
                      {x.view().data, DType::f32, 2, {2, 3}, {3, 1}}, {});
    EXPECT_EQ(y.values(), (std::vector<double>{1, -1, 4, -1, 2, -1, 5, -1, 3, -1, 6, -1}));
}

TEST(CopyStrided, CopiesNothingOfAnEmptyShape) {
    Buffer y(DType::f32, {7});
    cpu::copy_strided({y.array().data, DType::f32, 2, {0, 3}, {3, 1}},
                      {nullptr, DType::f32, 2, {0, 3}, {3, 1}}, {});
    EXPECT_EQ(y.get(0), 7);
}

}  // namespace
}  // namespace kernels::test
