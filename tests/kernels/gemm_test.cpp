#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "cpu/gemm_tiled.h"
#include "kernels/cuda_device.h"
#include "kernels/device_array.h"
#include "kernels/device_copy.h"
#include "kernels/gemm.h"
#include "kernels/gemm_problem.h"
#include "kernels/measured_choice.h"
#include "kernels/parallel.h"
#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

using namespace gemm;

void run_chosen(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options) {
    cpu::gemm(c, a, b, options, {});
}

/// Checks the implementation that is chosen, and our tiles with every instruction set.
void check(const Case& c) {
    SCOPED_TRACE(to_string(c));
    const Problem problem(c);
    problem.check(run_chosen);
    if (c.m == 0 || c.n == 0) return;
    on_every_target([&] { problem.check(cpu::gemm_tiled); });
}

Matrix matrix(Buffer& values, std::int64_t rows, std::int64_t cols) {
    return {values.array().data, values.dtype(), rows, cols, cols};
}
ConstMatrix matrix(const Buffer& values, std::int64_t rows, std::int64_t cols) {
    return {values.bytes().data(), values.dtype(), rows, cols, cols};
}
/// size x size elements with the same value.
Buffer square(DType dtype, std::int64_t size, double value) {
    return {dtype, std::vector<double>(static_cast<std::size_t>(size * size), value)};
}

/// The product of a row (1, k) and a column (k, 1) in dtype.
double dot(DType dtype, const std::vector<double>& row, const std::vector<double>& column) {
    const Buffer a(dtype, row), b(dtype, column);
    Buffer c(dtype, 1);
    const auto k = static_cast<std::int64_t>(row.size());
    cpu::gemm(matrix(c, 1, 1), matrix(a, 1, k), matrix(b, k, 1), {}, {});
    return c.get(0);
}

TEST(Gemm, AgreesWithDoubleForEveryDtypeAndTransposition) {
    for (const Types& types : all_types)
        for (const bool a_transposed : {false, true})
            for (const bool b_transposed : {false, true})
                for (const std::int64_t size : {1, 2, 31, 32, 33, 64, 100})
                    check({.in = types.in,
                           .out = types.out,
                           .m = size,
                           .n = size + 3,
                           .k = size + 5,
                           .a_transposed = a_transposed,
                           .b_transposed = b_transposed});
}

TEST(Gemm, AgreesWithDoubleForUnevenShapes) {
    const std::int64_t shapes[][3] = {{32, 64, 2},  {32, 2, 64},  {64, 2, 32},   {2, 64, 32},
                                      {1, 500, 70}, {500, 1, 70}, {13, 17, 600}, {300, 20, 9},
                                      {20, 300, 9}, {7, 8, 1},    {100, 130, 90}};
    for (const Types& types : all_types)
        for (const auto& shape : shapes)
            for (const bool b_transposed : {false, true})
                check({.in = types.in,
                       .out = types.out,
                       .m = shape[0],
                       .n = shape[1],
                       .k = shape[2],
                       .a_transposed = shape[1] % 2 == 0,
                       .b_transposed = b_transposed});
}

TEST(Gemm, LeavesWhatLiesBetweenTheRows) {
    for (const Types& types : all_types)
        for (const bool transposed : {false, true}) {
            check({.in = types.in,
                   .out = types.out,
                   .m = 33,
                   .n = 31,
                   .k = 20,
                   .a_transposed = transposed,
                   .b_transposed = transposed,
                   .pad = 3});
            check({.in = types.in,
                   .out = types.out,
                   .m = 101,
                   .n = 103,
                   .k = 70,
                   .a_transposed = transposed,
                   .b_transposed = transposed,
                   .pad = 5});
        }
}

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

TEST(Gemm, RunsEveryProductOfABatch) {
    for (const Types& types : all_types)
        for (const std::int64_t batch : {2, 9})
            for (const std::int64_t size : {6, 65, 130})
                check({.in = types.in,
                       .out = types.out,
                       .m = size,
                       .n = size + 1,
                       .k = 17,
                       .b_transposed = size == 65,
                       .pad = 1,
                       .batch = batch,
                       .alpha = 0.125,
                       .bias = true});
}

TEST(Gemm, SharesAnOperandWhoseStrideIsZero) {
    const Buffer a = random_buffer(DType::f32, 3 * 4 * 5, 1);
    const Buffer b = random_buffer(DType::f32, 5 * 6, 2);
    Buffer shared(DType::f32, 3 * 4 * 6), joined(DType::f32, 3 * 4 * 6);
    cpu::gemm(matrix(shared, 4, 6), matrix(a, 4, 5), matrix(b, 5, 6),
              {.batch = 3, .stride_c = 24, .stride_a = 20, .stride_b = 0}, {});
    cpu::gemm(matrix(joined, 12, 6), matrix(a, 12, 5), matrix(b, 5, 6), {}, {});
    for (std::int64_t i = 0; i < shared.size(); ++i) EXPECT_EQ(shared.get(i), joined.get(i));
}

TEST(Gemm, GivesOldValuesAndBiasForAnEmptySum) {
    for (const Types& types : all_types) {
        check({.in = types.in, .out = types.out, .m = 3, .n = 4, .k = 0});
        check(
            {.in = types.in, .out = types.out, .m = 3, .n = 4, .k = 0, .beta = 0.5, .bias = true});
    }
}

TEST(Gemm, DoesNothingForAnEmptyResult) {
    for (const Types& types : all_types) {
        check({.in = types.in, .out = types.out, .m = 0, .n = 4, .k = 3});
        check({.in = types.in, .out = types.out, .m = 4, .n = 0, .k = 3});
        check({.in = types.in, .out = types.out, .m = 4, .n = 4, .k = 3, .batch = 0});
    }
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

TEST(Gemm, RoundsBfloat16ProductsOnceFromFloatSums) {
    EXPECT_EQ(dot(DType::bf16, {256, 1}, {1, 1}), 256);
    EXPECT_EQ(dot(DType::bf16, {1, 0x1p-8}, {1, 1}), 1);
    EXPECT_EQ(dot(DType::bf16, {1, 3 * 0x1p-8}, {1, 1}), 1.015625);
    EXPECT_EQ(dot(DType::bf16, {65504}, {2}), 131072);
    EXPECT_EQ(dot(DType::bf16, {256, 1, 1, 1}, {1, 1, 1, 1}), 260);  // a bf16 sum would stay 256
}

TEST(Gemm, RoundsHalfProductsOnceFromFloatSums) {
    EXPECT_EQ(dot(DType::f16, {300}, {300}), inf);
    EXPECT_EQ(dot(DType::f16, {65519}, {1}), 65504);
    EXPECT_EQ(dot(DType::f16, {65520}, {1}), inf);
    EXPECT_EQ(dot(DType::f16, {2048, 1}, {1, 1}), 2048);
    EXPECT_EQ(dot(DType::f16, {2048, 3}, {1, 1}), 2052);
    EXPECT_EQ(dot(DType::f16, {0x1p-25}, {1}), 0);
    // Partial sums may exceed the range of f16.
    EXPECT_EQ(dot(DType::f16, {300, -300}, {300, 299}), 300);
}

/// How operands lie in memory, and whether tiles convert them or a copy is made first, changes no
/// bit: every sum runs over k in order, and is rounded once.
TEST(Gemm, GivesTheSameBitsHoweverOperandsLie) {
    const std::int64_t shapes[][3] = {{32, 64, 64}, {64, 64, 32}, {32, 64, 2},   {33, 48, 20},
                                      {13, 16, 37}, {70, 35, 18}, {120, 32, 64}, {5, 31, 3}};
    for (const DType in : {DType::f32, DType::f16, DType::bf16})
        for (const auto& [m, n, k] : shapes)
            for (const bool relu : {false, true}) {
                const Buffer a = random_buffer(in, m * k, 1), b = random_buffer(in, k * n, 2);
                const Buffer bias = random_buffer(in, n, 3);
                Buffer a_turned = a, b_turned = b, wide_bias(DType::f32, bias.values());
                for (std::int64_t i = 0; i < m; ++i)
                    for (std::int64_t p = 0; p < k; ++p) a_turned.set(p * m + i, a.get(i * k + p));
                for (std::int64_t p = 0; p < k; ++p)
                    for (std::int64_t j = 0; j < n; ++j) b_turned.set(j * k + p, b.get(p * n + j));
                on_every_target([&, m = m, n = n, k = k] {
                    Buffer wide(DType::f32, m * n);
                    cpu::gemm_tiled(matrix(wide, m, n), matrix(a, m, k), matrix(b, k, n),
                                    {.bias = wide_bias.bytes().data(), .relu = relu});
                    const Buffer expected(in, wide.values());
                    for (const bool turn_a : {false, true})
                        for (const bool turn_b : {false, true}) {
                            ConstMatrix left = matrix(turn_a ? a_turned : a, m, k);
                            ConstMatrix right = matrix(turn_b ? b_turned : b, k, n);
                            if (turn_a) left.ld = m, left.transposed = true;
                            if (turn_b) right.ld = k, right.transposed = true;
                            Buffer c(in, m * n);
                            cpu::gemm_tiled(matrix(c, m, n), left, right,
                                            {.bias = bias.bytes().data(), .relu = relu});
                            ASSERT_EQ(c.bytes(), expected.bytes())
                                << m << " x " << n << " x " << k << (turn_a ? " a" : "")
                                << (turn_b ? " b" : "");
                        }
                });
            }
}

TEST(Gemm, KeepsSubnormalHalfs) {
    EXPECT_EQ(dot(DType::f16, {0x1p-24}, {1}), 0x1p-24);
    EXPECT_EQ(dot(DType::f16, {0x1p-24, 0x1p-24}, {1, 1}), 0x1p-23);
    for (const std::int64_t size : {8, 256}) {
        Buffer identity = square(DType::f16, size, 0), c = identity;
        for (std::int64_t i = 0; i < size; ++i) identity.set(i * size + i, 1);
        const Buffer least = square(DType::f16, size, 0x1p-24);
        cpu::gemm(matrix(c, size, size), matrix(std::as_const(identity), size, size),
                  matrix(least, size, size), {}, {});
        for (std::int64_t i = 0; i < c.size(); ++i) ASSERT_EQ(c.get(i), 0x1p-24);
    }
}

TEST(Gemm, KeepsOrFlushesSubnormalBfloat16s) {
    for (const std::int64_t size : {2, 64}) {
        Buffer identity = square(DType::bf16, size, 0), c = identity;
        for (std::int64_t i = 0; i < size; ++i) identity.set(i * size + i, 1);
        const Buffer subnormal = square(DType::bf16, size, 0x1p-130);
        cpu::gemm(matrix(c, size, size), matrix(std::as_const(identity), size, size),
                  matrix(subnormal, size, size), {}, {});
        for (const double value : c.values()) ASSERT_TRUE(value == 0x1p-130 || value == 0) << value;
    }
}

TEST(Gemm, PassesInfinitiesAndNaNsToTheirRowsAndColumnsOnly) {
    for (const Types& types : all_types)
        for (const bool relu : {false, true})
            for (const std::int64_t size : {9, 256}) {
                Buffer a = square(types.in, size, 0.5);
                const Buffer b = a;
                Buffer c(types.out, size * size);
                a.set(2 * size + 3, std::nan(""));
                a.set(5 * size + 1, inf);
                cpu::gemm(matrix(c, size, size), matrix(std::as_const(a), size, size),
                          matrix(b, size, size), {.relu = relu}, {});
                for (std::int64_t i = 0; i < size; ++i)
                    for (std::int64_t j = 0; j < size; ++j) {
                        const double value = c.get(i * size + j);
                        if (i == 2)
                            ASSERT_TRUE(std::isnan(value)) << size;
                        else
                            ASSERT_EQ(value, i == 5 ? inf : 0.25 * static_cast<double>(size));
                    }
            }
}

TEST(Gemm, AgreesWithDoubleAtSizesThatUseEveryThread) {
    for (const Types& types : all_types)
        for (const bool transposed : {false, true}) {
            const Problem problem({.in = types.in,
                                   .out = types.out,
                                   .m = 211,
                                   .n = 130,
                                   .k = 100,
                                   .a_transposed = transposed,
                                   .b_transposed = !transposed});
            for (const int threads : {1, 2, 3}) {
                cpu::set_threads(threads);
                problem.check(run_chosen);
                problem.check(cpu::gemm_tiled);
            }
        }
    cpu::set_threads(cpu::hardware_threads());
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

/// cuda::gemm on copies whose operands begin `Offset` elements into their blocks.
template <int Offset>
void run_on_device(Matrix c, ConstMatrix a, ConstMatrix b, const GemmOptions& options) {
    const auto bytes = [&](std::int64_t stride, DType dtype) {
        return static_cast<std::size_t>(stride * options.batch) * size_of(dtype);
    };
    const auto offset = [](DType dtype) { return Offset * size_of(dtype); };
    const DeviceCopy on_c(c.data, bytes(options.stride_c, c.dtype), offset(c.dtype));
    const DeviceCopy on_a(a.data, bytes(options.stride_a, a.dtype), offset(a.dtype));
    const DeviceCopy on_b(b.data, bytes(options.stride_b, b.dtype), offset(b.dtype));
    std::unique_ptr<DeviceCopy> bias;
    GemmOptions there = options;
    if (options.bias) {
        const auto size = static_cast<std::size_t>(c.cols) * size_of(c.dtype);
        bias = std::make_unique<DeviceCopy>(options.bias, size, offset(c.dtype));
        there.bias = bias->get();
    }
    cuda::gemm({on_c.get(), c.dtype, c.rows, c.cols, c.ld},
               {on_a.get(), a.dtype, a.rows, a.cols, a.ld, a.transposed},
               {on_b.get(), b.dtype, b.rows, b.cols, b.ld, b.transposed}, there, {});
    on_c.read(c.data);
}

void check_on_device(const Case& c) {
    SCOPED_TRACE(to_string(c));
    const Problem problem(c);
    problem.check(run_on_device<0>);
    problem.check(run_on_device<1>);
}

TEST(CudaGemm, AgreesWithDoubleForEveryDtypeAndTransposition) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& types : all_types)
        for (const bool a_transposed : {false, true})
            for (const bool b_transposed : {false, true})
                for (const std::int64_t size : {1, 2, 31, 32, 33, 64})
                    check_on_device({.in = types.in,
                                     .out = types.out,
                                     .m = size,
                                     .n = size + 3,
                                     .k = size + 5,
                                     .a_transposed = a_transposed,
                                     .b_transposed = b_transposed});
}

TEST(CudaGemm, AgreesWithDoubleForUnevenShapesAndGapsBetweenRows) {
    HALFTONE_NEEDS_CUDA();
    const std::int64_t shapes[][3] = {{32, 64, 2},  {64, 2, 32},   {1, 500, 70},
                                      {500, 1, 70}, {13, 17, 600}, {7, 8, 1}};
    for (const Types& types : all_types)
        for (const auto& shape : shapes)
            for (const bool transposed : {false, true})
                check_on_device({.in = types.in,
                                 .out = types.out,
                                 .m = shape[0],
                                 .n = shape[1],
                                 .k = shape[2],
                                 .a_transposed = !transposed,
                                 .b_transposed = transposed,
                                 .pad = transposed ? 3 : 0});
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

TEST(CudaGemm, AgreesWithDoubleByTheFastestAlgorithm) {
    HALFTONE_NEEDS_CUDA();
    const MeasuredChoice measured;
    for (const Types& types : all_types)
        for (const double beta : {0.0, 0.25})
            for (int call = 0; call < 2; ++call)  // the race, and its winner
                check_on_device({.in = types.in,
                                 .out = types.out,
                                 .m = 72,
                                 .n = 48,
                                 .k = 96,
                                 .b_transposed = true,
                                 .batch = 2,
                                 .beta = beta,
                                 .bias = true});
}

TEST(CudaGemm, RunsEveryProductOfABatch) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& types : all_types)
        for (const bool bias : {false, true})
            check_on_device({.in = types.in,
                             .out = types.out,
                             .m = 9,
                             .n = 14,
                             .k = 17,
                             .b_transposed = true,
                             .pad = 1,
                             .batch = 5,
                             .alpha = 0.125,
                             .bias = bias,
                             .relu = bias});
}

TEST(CudaGemm, SharesAnOperandWhoseStrideIsZero) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer a(random_buffer(DType::f32, 3 * 4 * 5, 1)),
        b(random_buffer(DType::f32, 30, 2));
    const DeviceBuffer shared(DType::f32, 72), joined(DType::f32, 72);
    const ConstMatrix right{b.as<void>(), DType::f32, 5, 6, 6};
    cuda::gemm({shared.as<void>(), DType::f32, 4, 6, 6}, {a.as<void>(), DType::f32, 4, 5, 5}, right,
               {.batch = 3, .stride_c = 24, .stride_a = 20, .stride_b = 0}, {});
    cuda::gemm({joined.as<void>(), DType::f32, 12, 6, 6}, {a.as<void>(), DType::f32, 12, 5, 5},
               right, {}, {});
    const Buffer one = shared.host(), other = joined.host();
    for (std::int64_t i = 0; i < 72; ++i) EXPECT_NEAR(one.get(i), other.get(i), 1e-5);
}

TEST(CudaGemm, GivesOldValuesAndBiasForAnEmptySumAndNothingForAnEmptyResult) {
    HALFTONE_NEEDS_CUDA();
    for (const Types& types : all_types) {
        check_on_device({.in = types.in, .out = types.out, .m = 3, .n = 4, .k = 0});
        check_on_device(
            {.in = types.in, .out = types.out, .m = 3, .n = 4, .k = 0, .beta = 0.5, .bias = true});
        check_on_device({.in = types.in, .out = types.out, .m = 0, .n = 4, .k = 3});
        check_on_device({.in = types.in, .out = types.out, .m = 4, .n = 0, .k = 3});
        check_on_device({.in = types.in, .out = types.out, .m = 4, .n = 4, .k = 3, .batch = 0});
    }
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

TEST(CudaGemm, RoundsSixteenBitProductsOnceFromFloatSums) {
    HALFTONE_NEEDS_CUDA();
    const auto dot = [](DType dtype, std::vector<double> row, std::vector<double> column) {
        const DeviceBuffer a{Buffer(dtype, row)}, b{Buffer(dtype, column)}, c(dtype, 1);
        const auto k = static_cast<std::int64_t>(row.size());
        cuda::gemm({c.as<void>(), dtype, 1, 1, 1}, {a.as<void>(), dtype, 1, k, k},
                   {b.as<void>(), dtype, k, 1, 1}, {}, {});
        return c.host().get(0);
    };
    EXPECT_EQ(dot(DType::bf16, {256, 1, 1, 1}, {1, 1, 1, 1}), 260);
    EXPECT_EQ(dot(DType::bf16, {1, 3 * 0x1p-8}, {1, 1}), 1.015625);
    EXPECT_EQ(dot(DType::f16, {65519}, {1}), 65504);
    EXPECT_EQ(dot(DType::f16, {65520}, {1}), std::numeric_limits<double>::infinity());
    EXPECT_EQ(dot(DType::f16, {300, -300}, {300, 299}), 300);
    EXPECT_EQ(dot(DType::f16, {0x1p-24}, {1}), 0x1p-24);
}

TEST(CudaGemm, PassesNaNsThroughTheReluToTheirRowsOnly) {
    HALFTONE_NEEDS_CUDA();
    constexpr std::int64_t size = 16;
    for (const Types& types : all_types) {
        Buffer values(types.in, std::vector<double>(size * size, 0.5));
        const DeviceBuffer b(values), c(types.out, size * size);
        values.set(2 * size + 3, std::nan(""));
        const DeviceBuffer a(values);
        cuda::gemm({c.as<void>(), types.out, size, size, size},
                   {a.as<void>(), types.in, size, size, size},
                   {b.as<void>(), types.in, size, size, size}, {.relu = true}, {});
        const Buffer out = c.host();
        for (std::int64_t i = 0; i < size * size; ++i) {
            if (i / size == 2)
                ASSERT_TRUE(std::isnan(out.get(i)));
            else
                ASSERT_EQ(out.get(i), 4);
        }
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

TEST(CudaGemm, WaitsForNothing) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer a(random_buffer(DType::f16, 64, 1)), c(DType::f16, 64);
    const auto run = [&] {
        cuda::gemm({c.as<void>(), DType::f16, 8, 8, 8}, {a.as<void>(), DType::f16, 8, 8, 8},
                   {a.as<void>(), DType::f16, 8, 8, 8}, {.relu = true}, {});
    };
    run();
    const cuda::CallCounts before = cuda::call_counts();
    run();
    const cuda::CallCounts after = cuda::call_counts();
    EXPECT_EQ(after.synchronizations, before.synchronizations);
    EXPECT_EQ(after.allocations, before.allocations);
    // One, where the library's relu keeps NaN.
    EXPECT_GE(after.launches, before.launches + 1);
    EXPECT_LE(after.launches, before.launches + 2);
}

}  // namespace
}  // namespace kernels::test
