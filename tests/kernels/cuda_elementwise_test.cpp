#include "kernels/elementwise.h"

#include "kernels/elementwise_rows.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

Results unary_twins(const Buffer& x, UnaryOp op, std::int64_t skip = 0) {
    return run_twins(
        cpu::unary, cuda::unary, x.dtype(), std::max<std::int64_t>(0, x.size() - skip), {x}, skip,
        [op](Unary f, Array y, const std::vector<ConstArray>& in) { f(y, in[0], op, {}); });
}

/// 2 units of f32 (f64: 4 of its own) from the exact value for each of the twins, and the CPU's
/// rounding to 16 bits. In f64 erfc multiplies the error of its argument by x^2. gelu of 16 bits
/// takes an f32 distribution function of 5 units, and its derivative is a sum that cancels.
double slack_of(UnaryOp op, DType dtype, double x, double expected) {
    const bool wide = dtype == DType::f64, half = dtype == DType::f16 || dtype == DType::bf16;
    const double ulp = 2 * half_ulp(wide ? DType::f64 : DType::f32, expected);
    const bool gelu = op == UnaryOp::gelu || op == UnaryOp::gelu_grad;
    double slack = (wide ? 8 : 4) * ulp + (half ? half_ulp(dtype, expected) : 0);
    if (gelu && wide && std::fabs(x) < 40) slack += 4 * x * x * ulp;
    if (gelu && half) slack += 6 * ulp;
    if (op == UnaryOp::gelu_grad && wide) slack += 0x1p-50;
    if (op == UnaryOp::gelu_grad && half) slack += 0x1p-22;
    return slack;
}

void expect_near_twins(const ElementwiseRow<UnaryOp>& row, const Buffer& x) {
    const Results results = unary_twins(x, row.op);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const double expected = results.cpu.get(i);
        ASSERT_TRUE(near(results.cuda.get(i), expected, x.dtype(),
                         slack_of(row.op, x.dtype(), x.get(i), expected)))
            << row.name << " of " << x.get(i);
    }
}

TEST(CudaUnary, GivesTheCpusBitsWhereOneOperationRounds) {
    HALFTONE_NEEDS_CUDA();
    for (const auto& row : unary_rows) {
        if (!row.exact()) continue;
        for (DType dtype : floating) {
            for (std::int64_t size : awkward_sizes) {
                const auto results = unary_twins(awkward_buffer(dtype, size, 1), row.op);
                EXPECT_TRUE(same(results.cuda, results.cpu)) << row.name;
            }
            for (std::int64_t skip : {1, 2, 5}) {
                const auto results = unary_twins(awkward_buffer(dtype, 77, 2), row.op, skip);
                EXPECT_TRUE(same(results.cuda, results.cpu)) << row.name;
            }
        }
    }
}

TEST(CudaUnary, StaysWithinTwoUnitsOfTheFunctions) {
    HALFTONE_NEEDS_CUDA();
    for (const auto& row : unary_rows) {
        if (row.exact()) continue;
        for (DType dtype : floating)
            for (std::int64_t size : {1, 2, 1001})
                expect_near_twins(row, awkward_buffer(dtype, size, 3));
    }
}

TEST(CudaUnary, GoesOnBeyondOneGridAndOverItsInput) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f32, DType::bf16})
        for (UnaryOp op : {UnaryOp::square, UnaryOp::erf}) {
            const Buffer x = random_buffer(dtype, beyond_a_grid, 4);
            const auto results = unary_twins(x, op);
            const DeviceBuffer y(x);
            cuda::unary(y, y, op, {});
            EXPECT_EQ(y.host().bytes(), results.cuda.bytes());
        }
}

TEST(CudaUnary, WrapsIntegersAround) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::i64, DType::i32})
        for (const auto& row : unary_rows) {
            if (!row.takes_integers()) continue;
            Buffer x = awkward_buffer(dtype, 5003, 5);
            if (dtype == DType::i32) x.as<std::int32_t>()[7] = std::numeric_limits<int>::min();
            const auto results = unary_twins(x, row.op, 1);
            EXPECT_TRUE(same(results.cuda, results.cpu)) << row.name;
        }
}

TEST(CudaUnary, NegatesBooleans) {
    HALFTONE_NEEDS_CUDA();
    for (std::int64_t skip : {0, 1}) {
        const auto results =
            unary_twins(awkward_buffer(DType::boolean, 1003, 6), UnaryOp::logical_not, skip);
        EXPECT_TRUE(same(results.cuda, results.cpu));
    }
}

Results binary_twins(const Buffer& a, const Buffer& b, BinaryOp op, std::int64_t skip = 0) {
    const std::int64_t size = std::max(a.size(), b.size());
    return run_twins(
        cpu::binary, cuda::binary, a.dtype(), std::max<std::int64_t>(0, size - skip), {a, b}, skip,
        [op](Binary f, Array y, const std::vector<ConstArray>& in) { f(y, in[0], in[1], op, {}); });
}

void expect_same_binary(DType dtype, BinaryOp op, std::int64_t a, std::int64_t b,
                        std::int64_t skip = 0) {
    const auto results =
        binary_twins(awkward_buffer(dtype, a, 7), awkward_buffer(dtype, b, 8), op, skip);
    EXPECT_TRUE(same(results.cuda, results.cpu))
        << "op " << static_cast<int>(op) << " of " << a << " and " << b << ", start " << skip;
}

TEST(CudaBinary, GivesTheCpusBitsForArithmetic) {
    HALFTONE_NEEDS_CUDA();
    for (const auto& row : binary_rows) {
        if (!row.exact()) continue;
        for (DType dtype : floating) {
            for (std::int64_t size : awkward_sizes) expect_same_binary(dtype, row.op, size, size);
            for (std::int64_t skip : {1, 2, 5}) expect_same_binary(dtype, row.op, 99, 99, skip);
        }
    }
    expect_same_binary(DType::f16, BinaryOp::add, beyond_a_grid, beyond_a_grid);
}

TEST(CudaBinary, UsesAnOperandOfSizeOneForEveryElement) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32})
        for (BinaryOp op : {BinaryOp::sub, BinaryOp::div})
            for (std::int64_t skip : {0, 1}) {
                expect_same_binary(dtype, op, 1003, 1, skip);
                expect_same_binary(dtype, op, 1, 1003, skip);
            }
    expect_same_binary(DType::f32, BinaryOp::sub, 1, 1);
}

TEST(CudaBinary, WrapsIntegersAroundAndDividesThemWithoutFaults) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::i64, DType::i32})
        for (const auto& row : binary_rows) {
            if (!row.takes_integers()) continue;
            Buffer a = awkward_buffer(dtype, 5003, 9), b = awkward_buffer(dtype, 5003, 10);
            if (dtype == DType::i64) a.set(5, -0x1p63);
            a.as<std::int32_t>()[6] = std::numeric_limits<std::int32_t>::min();
            b.set(5, -1);
            b.set(6, -1);
            const auto results = binary_twins(a, b, row.op);
            EXPECT_TRUE(same(results.cuda, results.cpu)) << row.name;
        }
}

/// Each twin two f32 roundings of the magnitude, then the CPU's own to 16 bits; pow and atan2 come
/// from double and differ by a unit where they lie between two numbers.
TEST(CudaBinary, StaysNearTheCpuWhereTheyMayRoundDifferently) {
    HALFTONE_NEEDS_CUDA();
    for (const auto& row : binary_rows) {
        if (row.exact()) continue;
        for (DType dtype : floating) {
            const Buffer a = awkward_buffer(dtype, 2001, 11), b = awkward_buffer(dtype, 2001, 12);
            const auto results = binary_twins(a, b, row.op);
            for (std::int64_t i = 0; i < a.size(); ++i) {
                const double expected = results.cpu.get(i);
                const double unit = dtype == DType::f64 ? 0x1p-52 : 0x1p-23;
                double slack = 4 * half_ulp(dtype, expected);
                if (row.op == BinaryOp::tanh_backward)
                    slack += 4 * unit * std::fabs(a.get(i)) * (1 + b.get(i) * b.get(i));
                if (std::isinf(slack)) continue;  // the square leaves f32 or not, by its rounding
                ASSERT_TRUE(near(results.cuda.get(i), expected, dtype, slack))
                    << row.name << " of " << a.get(i) << " " << b.get(i);
            }
        }
    }
}

TEST(CudaBinary, MayWriteOverEitherOperand) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating) {
        const Buffer a = random_buffer(dtype, beyond_a_grid, 13);
        const Buffer b = random_buffer(dtype, beyond_a_grid, 14);
        const auto expected = binary_twins(a, b, BinaryOp::sub).cuda.bytes();
        const DeviceBuffer left(a), right(b), over_left(a), over_right(b);
        cuda::binary(over_left, over_left, right, BinaryOp::sub, {});
        cuda::binary(over_right, left, over_right, BinaryOp::sub, {});
        EXPECT_EQ(over_left.host().bytes(), expected);
        EXPECT_EQ(over_right.host().bytes(), expected);
    }
}

TEST(CudaCompare, AnswersAsTheCpuForEveryTypeAndRelation) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (CompareOp op : compare_ops)
            for (std::int64_t skip : {0, 1, 3})
                for (const auto& [a, b] : {std::pair{1003, 1003}, {1003, 1}, {1, 1003}, {64, 64}}) {
                    const auto results = run_twins(
                        cpu::compare, cuda::compare, DType::boolean, std::max(a, b) - skip,
                        {awkward_buffer(dtype, a, 15), awkward_buffer(dtype, b, 16)}, skip,
                        [op](Compare f, Array y, const std::vector<ConstArray>& in) {
                            f(y, in[0], in[1], op, {});
                        });
                    ASSERT_TRUE(same(results.cuda, results.cpu)) << static_cast<int>(op);
                }
}

TEST(CudaWhere, CopiesBitsOfTheChosenSide) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (std::int64_t skip : {0, 1, 3})
            for (const auto& [a, b] : {std::pair{5003, 5003}, {5003, 1}, {1, 5003}, {1, 1}}) {
                const Buffer condition = awkward_buffer(DType::boolean, 5003, 17);
                const auto results = run_twins(
                    cpu::where, cuda::where, dtype, 5003 - skip,
                    {condition, awkward_buffer(dtype, a, 18), awkward_buffer(dtype, b, 19)}, skip,
                    [](Where f, Array y, const std::vector<ConstArray>& in) {
                        f(y, in[0], in[1], in[2], {});
                    });
                ASSERT_EQ(results.cuda.bytes(), results.cpu.bytes());
            }
}

TEST(CudaElementwise, StartsNothingForEmptyArrays) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0), truth(DType::boolean, 0);
    const auto before = cuda::call_counts().launches;
    cuda::unary(none, none, UnaryOp::exp, {});
    cuda::binary(none, none, none, BinaryOp::add, {});
    cuda::compare(truth, none, none, CompareOp::eq, {});
    cuda::where(none, truth, none, none, {});
    cuda::cast(truth, none, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
