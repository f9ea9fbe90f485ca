#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/device_array.h"
#include "kernels/device_copy.h"
#include "kernels/gemm.h"
#include "kernels/gemm_on_cpu.h"
#include "kernels/gemm_on_device.h"
#include "kernels/support.h"

// Work of a product besides multiplying: factors, old values, bias, relu, sums of an operand.
namespace kernels::test::gemm {
namespace {

TEST(Gemm, ScalesAddsOldValuesBiasAndClampsAtZero) {
    for (const Types& types : all_types)
        for (const std::int64_t size : {5, 66})
            for (const double alpha : {1.0, -0.5})
                for (const double beta : {0.0, 1.0, 0.25})
                    for (const bool bias : {false, true})
                        for (const bool relu : {false, true})
                            check({.in = types.in,
                                   .out = types.out,
                                   .m = size,
                                   .n = size - 2,
                                   .k = size,
                                   .b_transposed = true,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .bias = bias,
                                   .relu = relu});
}

TEST(Gemm, DoesNotReadTheOldValuesWhenBetaIsZero) {
    for (const Types& types : all_types)
        for (const std::int64_t size : {4, 200}) {
            const Buffer ones = square(types.in, size, 1);
            Buffer c = square(types.out, size, std::nan(""));
            cpu::gemm(matrix(c, size, size), matrix(ones, size, size), matrix(ones, size, size), {},
                      {});
            for (std::int64_t i = 0; i < c.size(); ++i)
                ASSERT_EQ(c.get(i), static_cast<double>(size));
        }
}

TEST(Gemm, DoesNotReadTheOperandsWhenAlphaIsZero) {
    for (const Types& types : all_types) {
        for (const std::int64_t size : {4, 200}) {
            const Buffer a = square(types.in, size, std::nan(""));
            Buffer c = square(types.out, size, 1);
            cpu::gemm(matrix(c, size, size), matrix(a, size, size), matrix(a, size, size),
                      {.alpha = 0, .beta = 3}, {});
            for (std::int64_t i = 0; i < c.size(); ++i) ASSERT_EQ(c.get(i), 3);
        }
    }
}

/// A layer's gradients: c (m, n) = a b of k terms, with the sums of a (m) or of b (n) over them.
/// run(c, sums, a, b, options) fills both.
template <class Run>
void expect_operand_sums(const Run& run) {
    struct Shape {
        std::int64_t m, n, k;
    };
    for (const Types& types : all_types)
        for (const Shape& shape : {Shape{8, 16, 24}, Shape{3, 5, 700}, Shape{1, 64, 1}})
            for (const bool of_a : {true, false}) {
                const Case how{.in = types.in,
                               .out = types.out,
                               .m = shape.m,
                               .n = shape.n,
                               .k = shape.k,
                               .a_transposed = true};
                SCOPED_TRACE(to_string(how) + " of a " + std::to_string(of_a));
                const Problem problem(how);
                const std::int64_t size = of_a ? how.m : how.n;
                Buffer sums(how.out, size);
                problem.check([&](Matrix c, ConstMatrix a, ConstMatrix b, GemmOptions options) {
                    options.stride_c = options.stride_a = options.stride_b = 0;
                    run(c, sums, a, b, options, of_a);
                });
                const Buffer& terms = of_a ? problem.a.values : problem.b.values;
                for (std::int64_t i = 0; i < size; ++i) {
                    double sum = 0, magnitude = 0;
                    for (std::int64_t p = 0; p < how.k; ++p) {
                        sum += terms.get(p * size + i);
                        magnitude += std::abs(terms.get(p * size + i));
                    }
                    ASSERT_NEAR(sums.get(i), sum, sum_tolerance(how.out, how.k, magnitude, sum));
                }
            }
}

TEST(Gemm, SumsAnOperandBesideTheProduct) {
    expect_operand_sums(
        [](Matrix c, Buffer& sums, ConstMatrix a, ConstMatrix b, GemmOptions options, bool of_a) {
            (of_a ? options.sums_of_a : options.sums_of_b) = sums.array().data;
            cpu::gemm(c, a, b, options, {});
        });
}

TEST(CudaGemm, ScalesAddsOldValuesBiasAndClampsAtZero) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& types : all_types)
        for (const double alpha : {1.0, -0.5})
            for (const double beta : {0.0, 0.25})
                for (const bool bias : {false, true})
                    for (const bool relu : {false, true})
                        check_on_device({.in = types.in,
                                         .out = types.out,
                                         .m = 21,
                                         .n = 19,
                                         .k = 24,
                                         .b_transposed = true,
                                         .pad = 1,
                                         .alpha = alpha,
                                         .beta = beta,
                                         .bias = bias,
                                         .relu = relu});
}

TEST(CudaGemm, DoesNotReadTheOldValuesWhenBetaIsZero) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& types : all_types) {
        const std::vector<double> ones(16, 1.0);
        const DeviceBuffer a{Buffer(types.in, ones)}, c(types.out, 16),
            bias{Buffer(types.out, ones)};
        for (const bool biased : {false, true}) {
            const GemmOptions options{.bias = biased ? bias.as<void>() : nullptr};
            cuda::gemm({c.as<void>(), types.out, 4, 4, 4}, {a.as<void>(), types.in, 4, 4, 4},
                       {a.as<void>(), types.in, 4, 4, 4}, options, {});
            for (const double value : c.host().values()) ASSERT_EQ(value, biased ? 5 : 4);
        }
    }
}

TEST(CudaGemm, DoesNotReadTheOperandsWhenAlphaIsZero) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& types : all_types) {
        const DeviceBuffer a{Buffer(types.in, std::vector<double>(16, std::nan("")))},
            c{Buffer(types.out, std::vector<double>(16, 1.0))};
        cuda::gemm({c.as<void>(), types.out, 4, 4, 4}, {a.as<void>(), types.in, 4, 4, 4},
                   {a.as<void>(), types.in, 4, 4, 4}, {.alpha = 0, .beta = 3}, {});
        for (const double value : c.host().values()) ASSERT_EQ(value, 3);
    }
}

TEST(CudaGemm, SumsAnOperandBesideTheProduct) {
    HALFTONE_NEEDS_CUDA();
    expect_operand_sums(
        [](Matrix c, Buffer& sums, ConstMatrix a, ConstMatrix b, GemmOptions options, bool of_a) {
            const auto bytes = [](const auto& m) {
                return static_cast<std::size_t>(m.rows * m.cols) * size_of(m.dtype);
            };
            const DeviceCopy on_c(c.data, bytes(c), 0), on_a(a.data, bytes(a), 0),
                on_b(b.data, bytes(b), 0);
            const DeviceBuffer on_sums(sums.dtype(), sums.size());
            (of_a ? options.sums_of_a : options.sums_of_b) = on_sums.as<void>();
            cuda::gemm({on_c.get(), c.dtype, c.rows, c.cols, c.ld},
                       {on_a.get(), a.dtype, a.rows, a.cols, a.ld, a.transposed},
                       {on_b.get(), b.dtype, b.rows, b.cols, b.ld, b.transposed}, options, {});
            on_c.read(c.data);
            sums = on_sums.host();
        });
}

}  // namespace
}  // namespace kernels::test::gemm
