#include <gtest/gtest.h>

#include <functional>
#include <string_view>

#include "kernels/elementwise.h"
#include "kernels/elementwise_rows.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

struct BinaryCase {
    BinaryOp op;
    const char* name;
    std::function<double(double, double)> exact;
};

namespace exact {

using std::atan2;
using std::fmod;
using std::pow;

double add(double a, double b) { return a + b; }
double sub(double a, double b) { return a - b; }
double mul(double a, double b) { return a * b; }
double div(double a, double b) { return a / b; }
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double relu_backward(double a, double b) { return b <= 0 ? 0 : a; }
double relu6_backward(double a, double b) { return b <= 0 || b >= 6 ? 0 : a; }
double sigmoid_backward(double a, double b) { return a * b * (1 - b); }
double tanh_backward(double a, double b) { return a * (1 - b * b); }
double gelu_backward(double dy, double x) {
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
    return dy * (std::erfc(-x / std::sqrt(2.0)) / 2 + x * density);
}
double gelu_tanh_backward(double dy, double x) {
    const double root = std::sqrt(2 / std::acos(-1.0));
    const double t = std::tanh(root * (x + 0.044715 * x * x * x));
    const double slope = root * (1 + 3 * 0.044715 * x * x);
    return dy * ((1 + t) / 2 + x / 2 * ((1 - t * t) * slope));
}
double remainder(double a, double b) {
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace exact

/// Size of the error before the last rounding, in units of f32 of this value: up to three f32
/// roundings. 1 - b and 1 - b b cancel, so their error is relative to 1. The two terms of a
/// derivative of gelu, at most about 1, cancel too, and each has the error of its argument times
/// less than 1.
double scale_of(BinaryOp op, double a, double b) {
    if (op == BinaryOp::sigmoid_backward) return std::fabs(a * b) * (1 + std::fabs(b));
    if (op == BinaryOp::tanh_backward) return std::fabs(a) * (1 + b * b);
    if (op == BinaryOp::gelu_backward || op == BinaryOp::gelu_tanh_backward)
        return 4 * std::fabs(a);
    return 0;
}

const std::vector<BinaryCase>& binary_cases() {
    static const std::vector<BinaryCase> cases = {
#define HALFTONE_BINARY(name, cpu, cuda, numbers) \
    {BinaryOp::name, #name, [](double a, double b) -> double { return exact::name(a, b); }},
#include "kernels/elementwise_functions.inc"
    };
    return cases;
}

void expect_binary(const BinaryCase& c, const Buffer& a, const Buffer& b, std::int64_t size) {
    Buffer y(a.dtype(), size);
    cpu::binary(y, a, b, c.op, {});
    const double epsilon = a.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23;
    const DType wide = a.dtype() == DType::f64 ? DType::f64 : DType::f32;
    for (std::int64_t i = 0; i < size; ++i) {
        const double u = a.get(a.size() == 1 ? 0 : i);
        const double v = b.get(b.size() == 1 ? 0 : i);
        const double expected = c.exact(u, v);
        // For 16-bit types there is an f32 rounding first.
        const bool twice = wide != a.dtype();
        const double slack =
            2 * epsilon * scale_of(c.op, u, v) + (twice ? half_ulp(wide, expected) : 0);
        ASSERT_TRUE(near(y.get(i), expected, a.dtype(), std::isfinite(slack) ? slack : 0))
            << c.name << " of " << u << " and " << v;
    }
}

TEST(Binary, MeetsTheExactValueAtEverySizeAndType) {
    for (const BinaryCase& c : binary_cases())
        for (DType dtype : floating)
            for (std::int64_t size : {0, 1, 31, 32, 33, 1000})
                expect_binary(c, random_buffer(dtype, size, 4), random_buffer(dtype, size, 5),
                              size);
}

TEST(Binary, UsesAnOperandOfSizeOneForEveryElement) {
    for (const BinaryCase& c : binary_cases())
        for (DType dtype : floating)
            for (std::int64_t size : {1, 33, 2000}) {
                const Buffer many = random_buffer(dtype, size, 6);
                const Buffer one = random_buffer(dtype, 1, 7);
                expect_binary(c, many, one, size);
                expect_binary(c, one, many, size);
            }
}

TEST(Binary, HandlesAllPairsOfSpecialValuesOnEveryTarget) {
    on_every_target([] {
        for (const BinaryCase& c : binary_cases()) {
            if (c.op == BinaryOp::sigmoid_backward || c.op == BinaryOp::tanh_backward) continue;
            for (DType dtype : floating) {
                const Buffer all = special_values(dtype);
                for (std::int64_t shift = 0; shift < all.size(); ++shift) {
                    Buffer turned(dtype, all.size());
                    for (std::int64_t i = 0; i < all.size(); ++i)
                        turned.set(i, all.get((i + shift) % all.size()));
                    expect_binary(c, all, turned, all.size());
                }
            }
        }
    });
}

TEST(Binary, MayWriteOverEitherOperandAndGivesTheSameForEveryThreadCount) {
    for (DType dtype : floating) {
        const Buffer a = random_buffer(dtype, 100003, 8);
        const Buffer b = random_buffer(dtype, 100003, 9);
        Buffer expected(dtype, a.size());
        cpu::binary(expected, a, b, BinaryOp::sub, {});
        with_threads([&](int) {
            Buffer left = a, right = b;
            cpu::binary(left, left, b, BinaryOp::sub, {});
            cpu::binary(right, a, right, BinaryOp::sub, {});
            EXPECT_EQ(left.bytes(), expected.bytes());
            EXPECT_EQ(right.bytes(), expected.bytes());
        });
    }
}

TEST(Binary, DividesIntegersWithoutFaults) {
    Buffer a(DType::i32, {7, -7, 7, 0}), b(DType::i32, {2, 2, 0, -1}), y(DType::i32, 4);
    a.as<std::int32_t>()[3] = std::numeric_limits<std::int32_t>::min();
    cpu::binary(y, a, b, BinaryOp::div, {});
    EXPECT_EQ(y.get(0), 3);
    EXPECT_EQ(y.get(1), -3);
    EXPECT_EQ(y.get(2), 0);
    EXPECT_EQ(y.get(3), a.get(3));
}

TEST(Binary, OfIntegersHasPytorchsPowersAndRemainders) {
    const auto result = [](BinaryOp op, std::int64_t a, std::int64_t b) {
        Buffer x(DType::i64, 1), y(DType::i64, 1), z(DType::i64, 1);
        x.as<std::int64_t>()[0] = a;
        y.as<std::int64_t>()[0] = b;
        cpu::binary(z, x, y, op, {});
        return z.as<std::int64_t>()[0];
    };
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    EXPECT_EQ(result(BinaryOp::pow, 3, 39), 4052555153018976267);
    EXPECT_EQ(result(BinaryOp::pow, 3, 40), -6289078614652622815);  // wraps around
    EXPECT_EQ(result(BinaryOp::pow, -2, 63), lowest);
    EXPECT_EQ(result(BinaryOp::pow, 0, 0), 1);
    for (const auto& [a, wanted] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {1, 1}, {-1, -1}, {2, 0}, {0, 0}})
        EXPECT_EQ(result(BinaryOp::pow, a, -3), wanted) << a;
    EXPECT_EQ(result(BinaryOp::pow, -1, -2), 1);
    EXPECT_EQ(result(BinaryOp::fmod, -7, 3), -1);
    EXPECT_EQ(result(BinaryOp::fmod, 7, -3), 1);
    EXPECT_EQ(result(BinaryOp::remainder, -7, 3), 2);
    EXPECT_EQ(result(BinaryOp::remainder, 7, -3), -2);
    EXPECT_EQ(result(BinaryOp::remainder, -6, 3), 0);
    EXPECT_EQ(result(BinaryOp::fmod, lowest, -1), 0);
    EXPECT_EQ(result(BinaryOp::remainder, lowest, 10), 2);
    EXPECT_EQ(result(BinaryOp::fmod, 5, 0), 0);
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

/// Two f32 roundings of the magnitude for each twin, then the CPU's own to 16 bits. pow and atan2
/// are computed in double and differ by a unit if they lie between two numbers.
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
                slack += 4 * unit * scale_of(row.op, a.get(i), b.get(i));
                if (std::isinf(slack)) continue;  // the square may overflow f32
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

TEST(CudaBinary, LaunchesNothingForAnEmptyArray) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0);
    const auto before = cuda::call_counts().launches;
    cuda::binary(none, none, none, BinaryOp::add, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
