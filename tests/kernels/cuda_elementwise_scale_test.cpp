#include "kernels/elementwise.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

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
                // A CPU without FMA rounds the first product on its own.
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

}  // namespace
}  // namespace kernels::test
