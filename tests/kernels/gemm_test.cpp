#include <gtest/gtest.h>

#include <vector>

#include "cpu/gemm_tiled.h"
#include "kernels/cuda_device.h"
#include "kernels/device_array.h"
#include "kernels/gemm.h"
#include "kernels/gemm_on_cpu.h"
#include "kernels/gemm_on_device.h"
#include "kernels/measured_choice.h"
#include "kernels/parallel.h"
#include "kernels/support.h"

// Products of every dtype, transposition, shape and batch.
namespace kernels::test::gemm {
namespace {

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

TEST(CudaGemmRace, AgreesWithDouble) {
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
}  // namespace kernels::test::gemm
