#include <gtest/gtest.h>

#include <memory>

#include "kernels/elementwise.h"
#include "kernels/multi_tensor.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

TEST(Axpby, AddsTwoScaledArraysWithOneRounding) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size : {0, 1, 31, 33, 1000}) {
                const Buffer a = random_buffer(dtype, size, 1);
                const Buffer b = random_buffer(dtype, size, 2);
                Buffer y = b;
                cpu::axpby(y, a, y, 0.75, -0.5, {});  // -0.5 b is exact
                for (std::int64_t i = 0; i < size; ++i) {
                    const double expected = 0.75 * a.get(i) - 0.5 * b.get(i);
                    // 0.75 a needs 2 more bits than a: without FMA it is rounded to f32 separately.
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

/// As composed of the kernels that a GPU uses: widened, product, comparison, choice, rounded.
Buffer composed_leaky(const Buffer& a, const Buffer& b, double slope) {
    const DType dtype = a.dtype(), wide = dtype == DType::f64 ? DType::f64 : DType::f32;
    const std::int64_t n = a.size();
    Buffer left(wide, n), right(wide, n), product(wide, n), positive(DType::boolean, n), y(wide, n),
        rounded(dtype, n);
    const Buffer factor(wide, {slope}), zero(wide, {0.0});
    cpu::cast(left, a, {});
    cpu::cast(right, b, {});
    cpu::binary(product, left, factor, BinaryOp::mul, {});
    cpu::compare(positive, right, zero, CompareOp::gt, {});
    cpu::where(y, positive, left, product, {});
    cpu::cast(rounded, y, {});
    return rounded;
}

TEST(LeakyRelu, HasTheBitsOfItsParts) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size : {0, 1, 15, 31, 33, 1000})
                for (double slope : {0.2, 0.01, 0.0, -1.5}) {
                    const Buffer a = awkward_buffer(dtype, size, 6);
                    const Buffer b = awkward_buffer(dtype, size, 7);
                    Buffer y(dtype, size), over = a;
                    cpu::leaky_relu(y, a, b, slope, {});
                    ASSERT_TRUE(same(y, composed_leaky(a, b, slope)));
                    cpu::leaky_relu(over, over, over, slope, {});
                    ASSERT_TRUE(same(over, composed_leaky(a, a, slope)));
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

TEST(CudaAxpby, AddsTwoScaledArraysAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t skip : {0, 1})
            for (std::int64_t size : {1, 33, 1000, 5003}) {
                const Buffer a = random_buffer(dtype, size + skip, 1);
                const Buffer b = random_buffer(dtype, size + skip, 2);
                const auto results =
                    run_twins(cpu::axpby, cuda::axpby, dtype, size, {a, b}, skip,
                              [](Axpby f, Array y, const std::vector<ConstArray>& in) {
                                  f(y, in[0], in[1], 0.7, -0.3, {});
                              });
                // A CPU without FMA rounds the first product separately.
                const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
                for (std::int64_t i = skip; i < size + skip; ++i)
                    ASSERT_TRUE(near(
                        results.cuda.get(i), results.cpu.get(i), dtype,
                        2 * unit * std::fabs(a.get(i)) + 2 * half_ulp(dtype, results.cpu.get(i))));
            }
}

TEST(CudaAxpby, KeepsAMultipleOfOneExactlyAndMayWriteOverAnOperand) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating) {
        const Buffer a = random_buffer(dtype, 1000, 3), b = random_buffer(dtype, 1000, 4);
        const DeviceBuffer x(a), y(b);
        cuda::axpby(y, x, y, 1, 0, {});
        EXPECT_EQ(y.host().bytes(), a.bytes());
    }
}

TEST(CudaScaleBy, GivesTheCpusBits) {
    HALFTONE_NEEDS_CUDA();
    const float scale = 1.0f / 3;
    const DeviceValue<float> device_scale(scale);
    for (DType dtype : floating)
        for (std::int64_t skip : {0, 1, 3})
            for (std::int64_t size : awkward_sizes) {
                const auto results =
                    run_twins(cpu::scale_by, cuda::scale_by, dtype, size,
                              {awkward_buffer(dtype, size + skip, 5)}, size == 1 ? 0 : skip,
                              [&](ScaleBy f, Array y, const std::vector<ConstArray>& in) {
                                  f(y, {in[0].data, dtype, y.size},
                                    f == cuda::scale_by ? device_scale.get() : &scale, {});
                              });
                ASSERT_TRUE(same(results.cuda, results.cpu));
            }
}

TEST(CudaFill, RoundsTheValueAndFillsEverySize) {
    HALFTONE_NEEDS_CUDA();
    const double values[] = {0, 3.3, -7.9, 1e300, static_cast<double>(nan), 65519.9999999};
    for (DType dtype : every_dtype)
        for (double value : values)
            for (std::int64_t skip : {0, 1})
                for (std::int64_t size : {0, 1, 31, 1000}) {
                    const auto results = run_twins(
                        cpu::fill, cuda::fill, dtype, size, {}, skip,
                        [&](Fill f, Array y, const std::vector<ConstArray>&) { f(y, value, {}); });
                    ASSERT_EQ(results.cuda.bytes(), results.cpu.bytes());
                }
}

TEST(CudaAddBias, GivesTheCpusBitsForEveryWidth) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t cols : {1, 2, 8, 31, 64, 5000})
            for (std::int64_t rows : {0, 1, 37})
                for (std::int64_t skip : {0, 1})
                    for (bool relu : {false, true}) {
                        const Buffer x = awkward_buffer(dtype, rows * cols + skip, 6);
                        const Buffer bias = awkward_buffer(dtype, cols + skip, 7);
                        const auto results =
                            run_twins(cpu::add_bias, cuda::add_bias, dtype, rows * cols, {x, bias},
                                      rows * cols == 1 ? 0 : skip,
                                      [&](AddBias f, Array y, const std::vector<ConstArray>& in) {
                                          f(y, {in[0].data, dtype, rows * cols},
                                            {in[1].data, dtype, cols}, relu, {});
                                      });
                        ASSERT_TRUE(same(results.cuda, results.cpu)) << rows << " " << cols;
                    }
}

TEST(CudaAddBias, MayWriteOverItsInput) {
    HALFTONE_NEEDS_CUDA();
    for (std::int64_t cols : {61, 64}) {
        const Buffer bias = random_buffer(DType::bf16, cols, 8);
        Buffer x = random_buffer(DType::bf16, 1500 * cols, 9);
        const DeviceBuffer y(x), add(bias);
        cpu::add_bias(x, x, bias, true, {});
        cuda::add_bias(y, y, add, true, {});
        EXPECT_EQ(y.host().bytes(), x.bytes());
    }
}

TEST(CudaAbsMax, AccumulatesTheLargestMagnitude) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t skip : {0, 1})
            for (std::int64_t size : {0, 1, 31, 1000, 70001}) {
                Buffer x = random_buffer(dtype, size + skip, 10);
                if (size > 0) x.set(skip + size / 2, -77);
                const DeviceBuffer in(x);
                for (float before : {0.0f, 100.0f}) {
                    const DeviceValue<float> result(before);
                    cuda::abs_max(result.get(), from(in, skip), {});
                    EXPECT_EQ(result.host(), std::max(before, size > 0 ? 77.0f : 0.0f));
                }
            }
}

TEST(CudaAbsMax, KeepsInfinityAndNaN) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating) {
        Buffer x = random_buffer(dtype, 100, 11);
        const DeviceValue<float> result(0);
        x.set(40, static_cast<double>(-infinity));
        cuda::abs_max(result.get(), DeviceBuffer(x), {});
        EXPECT_EQ(result.host(), infinity);
        x.set(99, static_cast<double>(-nan));
        cuda::abs_max(result.get(), DeviceBuffer(x), {});
        EXPECT_TRUE(std::isnan(result.host()));
        cuda::abs_max(result.get(), DeviceBuffer(random_buffer(dtype, 9, 12)), {});
        EXPECT_TRUE(std::isnan(result.host()));
    }
}

TEST(CudaAbsMax, TakesManyF16TensorsAtOnce) {
    HALFTONE_NEEDS_CUDA();
    std::vector<std::unique_ptr<DeviceBuffer>> held;
    std::vector<ConstArray> arrays;
    float expected = 0;
    for (unsigned i = 0; i < 140;
         ++i) {  // more than one launch takes, some not aligned, some empty
        Buffer x = random_buffer(DType::f16, i * i % 97 + (i == 20 ? 9000 : 0), i);
        if (x.size() > 0) x.set(x.size() - 1, 3 + 0.25 * ((i * 5) % 140));
        const std::int64_t skip = i % 3;
        for (std::int64_t k = skip; k < x.size(); ++k)
            expected = std::max(expected, static_cast<float>(std::fabs(x.get(k))));
        held.push_back(std::make_unique<DeviceBuffer>(x));
        arrays.emplace_back(from(held.back()->array(), skip));
    }
    const DeviceValue<float> result(1), larger(1000);
    cuda::multi_tensor_abs_max(result.get(), arrays, {});
    cuda::multi_tensor_abs_max(larger.get(), arrays, {});
    EXPECT_EQ(result.host(), expected);
    EXPECT_EQ(larger.host(), 1000);
    Buffer spoilt(DType::f16, {1, static_cast<double>(-nan), 2});
    const DeviceBuffer last(spoilt);
    arrays.emplace_back(last.array());
    cuda::multi_tensor_abs_max(result.get(), arrays, {});
    EXPECT_TRUE(std::isnan(result.host()));
    const DeviceBuffer wide(DType::f32, 1);
    EXPECT_THROW(cuda::multi_tensor_abs_max(result.get(), std::vector<ConstArray>{wide}, {}),
                 DeviceError);
}

}  // namespace
}  // namespace kernels::test
