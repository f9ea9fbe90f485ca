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

using Function = std::function<long double(long double)>;

struct UnaryCase {
    UnaryOp op;
    const char* name;
    Function exact;
    bool rounds_once;  ///< one IEEE operation: only the rounding of the result
};

/// The functions in long double, as a reference.
namespace exact {

using std::acos;
using std::acosh;
using std::asin;
using std::asinh;
using std::atan;
using std::atanh;
using std::ceil;
using std::cos;
using std::cosh;
using std::erf;
using std::erfc;
using std::exp;
using std::expm1;
using std::floor;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::sin;
using std::sinh;
using std::sqrt;
using std::tan;
using std::tanh;
using std::trunc;

long double neg(long double x) { return -x; }
long double abs(long double x) { return std::fabs(x); }
long double rsqrt(long double x) { return 1 / std::sqrt(x); }
long double reciprocal(long double x) { return 1 / x; }
long double square(long double x) { return x * x; }
long double round(long double x) { return std::nearbyint(x); }
long double logical_not(long double x) { return static_cast<long double>(x == 0); }
long double relu(long double x) { return x <= 0 ? 0 : x; }
long double relu6(long double x) { return x <= 0 ? 0 : x >= 6 ? 6 : x; }
long double sign(long double x) { return static_cast<long double>((x > 0) - (x < 0)); }
long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
// NaN at -infinity, as in PyTorch.
long double gelu(long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }
/// sqrt(8 / pi) (x + 0.044715 x^3)
long double gelu_tanh_argument(long double x) {
    return std::sqrt(8 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x);
}
long double gelu_tanh(long double x) { return x / (1 + std::exp(-gelu_tanh_argument(x))); }

/// By bisection: slow, but uses only erf and erfc.
long double erfinv(long double x) {
    const long double size = std::fabs(x);
    if (size == 1) return x * std::numeric_limits<long double>::infinity();
    if (!(size < 1)) return std::numeric_limits<long double>::quiet_NaN();
    // The next term is pi / 12 x^2 times as large.
    if (size < 1e-9L) return x * std::sqrt(std::acos(-1.0L)) / 2;
    long double low = 0, high = 8;
    for (int i = 0; i < 90; ++i) {
        const long double middle = (low + high) / 2;
        const bool below = size < 0.5L ? std::erf(middle) < size : std::erfc(middle) > 1 - size;
        (below ? low : high) = middle;
    }
    return std::copysign((low + high) / 2, x);
}
/// Near 0 by the series of tanh.
long double tanhshrink(long double x) {
    if (!(std::fabs(x) < 0.1L)) return x - std::tanh(x);
    const long double xx = x * x;
    long double sum = 0;
    for (const long double c : {929569 / 638512875.0L, -21844 / 6081075.0L, 1382 / 155925.0L,
                                -62 / 2835.0L, 17 / 315.0L, -2 / 15.0L, 1 / 3.0L})
        sum = sum * xx + c;
    return x * xx * sum;
}

}  // namespace exact

const std::vector<UnaryCase>& unary_cases() {
    static const std::vector<UnaryCase> cases = {
#define HALFTONE_UNARY(name, cpu, cuda, numbers)                                        \
    {UnaryOp::name, #name, [](long double x) -> long double { return exact::name(x); }, \
     std::string_view(#cuda) == "simple" && UnaryOp::name != UnaryOp::rsqrt},
#include "kernels/elementwise_functions.inc"
    };
    return cases;
}

/// 16-bit types compute in f32 before they round. f64 has its own rounding, plus some units for
/// functions of several steps: erfc multiplies the error of its argument by x^2, exp by the
/// argument.
double unary_slack(const UnaryCase& c, DType dtype, double x, double expected) {
    if (c.rounds_once && dtype != DType::f16 && dtype != DType::bf16) return 0;
    const double ulp = 2 * half_ulp(dtype == DType::f64 ? DType::f64 : DType::f32, expected);
    if (dtype != DType::f64) return 2 * ulp;
    const bool erfc = c.op == UnaryOp::gelu;
    return 4 * ulp + (erfc && std::fabs(x) < 40 ? 2 * x * x * ulp : 0) +
           (c.op == UnaryOp::gelu_tanh && std::fabs(x) < 40
                ? 4 * std::fabs(static_cast<double>(exact::gelu_tanh_argument(x))) * ulp
                : 0);
}

void expect_unary(const UnaryCase& c, const Buffer& x) {
    Buffer y(x.dtype(), x.size());
    cpu::unary(y, x, c.op, {});
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const auto expected = static_cast<double>(c.exact(static_cast<long double>(x.get(i))));
        ASSERT_TRUE(
            near(y.get(i), expected, x.dtype(), unary_slack(c, x.dtype(), x.get(i), expected)))
            << c.name << " of " << x.get(i);
    }
}

TEST(Unary, MeetsTheExactValueAtEverySizeAndType) {
    for (const UnaryCase& c : unary_cases())
        for (DType dtype : floating)
            for (std::int64_t size : {0, 1, 31, 32, 33, 1000})
                expect_unary(c, random_buffer(dtype, size, 1, 0, 3));
}

TEST(Unary, MeetsTheExactValueOnEveryTarget) {
    on_every_target([] {
        for (const UnaryCase& c : unary_cases())
            for (DType dtype : {DType::f32, DType::f16, DType::bf16})
                expect_unary(c, random_buffer(dtype, 333, 2, 0, 30));
    });
}

TEST(Unary, HandlesInfinitiesNaNZerosAndSubnormals) {
    on_every_target([] {
        for (const UnaryCase& c : unary_cases())
            for (DType dtype : floating) expect_unary(c, special_values(dtype));
    });
}

/// Every 262,147th f32 number: covers the whole range of exponents.
TEST(Unary, StaysWithinTwoUnitsOverTheWholeRange) {
    Buffer x(DType::f32, 0x100000000 / 262147 + 1);
    for (std::int64_t i = 0; i < x.size(); ++i)
        x.as<std::uint32_t>()[i] = static_cast<std::uint32_t>(i * 262147);
    for (const UnaryCase& c : unary_cases()) expect_unary(c, x);
}

TEST(Unary, DenselyTestsTheVectorFunctionsWhereTheyAreUsed) {
    Buffer x(DType::f32, 20011);
    for (std::int64_t i = 0; i < x.size(); ++i)
        x.set(i, -110 + 220.0 * static_cast<double>(i) / static_cast<double>(x.size()));
    Buffer small(DType::f32, 20011);
    for (std::int64_t i = 0; i < x.size(); ++i)
        small.set(i, 2.0 * static_cast<double>(i) / static_cast<double>(x.size()));
    on_every_target([&] {
        for (const UnaryCase& c : unary_cases())
            for (UnaryOp op : {UnaryOp::exp, UnaryOp::log, UnaryOp::tanh, UnaryOp::sigmoid})
                if (c.op == op) {
                    expect_unary(c, x);
                    expect_unary(c, small);
                }
    });
}

TEST(Unary, MayWriteOverItsInputAndGivesTheSameForEveryThreadCount) {
    for (DType dtype : floating) {
        const Buffer x = random_buffer(dtype, 100003, 3);
        Buffer expected(dtype, x.size());
        cpu::unary(expected, x, UnaryOp::exp, {});
        with_threads([&](int) {
            Buffer y = x;
            cpu::unary(y, y, UnaryOp::exp, {});
            EXPECT_EQ(y.bytes(), expected.bytes());
        });
    }
}

TEST(Unary, TakesIntegersForItsArithmetic) {
    for (DType dtype : {DType::i64, DType::i32}) {
        const Buffer x(dtype, {-3, 0, 7});
        Buffer y(dtype, 3);
        cpu::unary(y, x, UnaryOp::neg, {});
        EXPECT_EQ(y.values(), (std::vector<double>{3, 0, -7}));
        cpu::unary(y, x, UnaryOp::abs, {});
        EXPECT_EQ(y.values(), (std::vector<double>{3, 0, 7}));
        cpu::unary(y, x, UnaryOp::sign, {});
        EXPECT_EQ(y.values(), (std::vector<double>{-1, 0, 1}));
        cpu::unary(y, x, UnaryOp::square, {});
        EXPECT_EQ(y.values(), (std::vector<double>{9, 0, 49}));
    }
}

TEST(Unary, NegatesBooleans) {
    const Buffer x(DType::boolean, {0, 1, 2});
    Buffer y(DType::boolean, 3);
    cpu::unary(y, x, UnaryOp::logical_not, {});
    EXPECT_EQ(y.values(), (std::vector<double>{1, 0, 0}));
}

Results unary_twins(const Buffer& x, UnaryOp op, std::int64_t skip = 0) {
    return run_twins(
        cpu::unary, cuda::unary, x.dtype(), std::max<std::int64_t>(0, x.size() - skip), {x}, skip,
        [op](Unary f, Array y, const std::vector<ConstArray>& in) { f(y, in[0], op, {}); });
}

/// Each twin is within 2 units of f32 (for f64: 4 of its own) of the exact value. The CPU adds the
/// rounding to 16 bits. In f64 erfc multiplies the error of its argument by x^2. gelu of 16 bits
/// uses an f32 distribution function with an error of 5 units. gelu_tanh uses an exp with another
/// argument.
double unary_slack(UnaryOp op, DType dtype, double x, double expected) {
    const bool wide = dtype == DType::f64, half = dtype == DType::f16 || dtype == DType::bf16;
    const double ulp = 2 * half_ulp(wide ? DType::f64 : DType::f32, expected);
    const bool gelu = op == UnaryOp::gelu;
    double slack = (wide ? 8 : 4) * ulp + (half ? half_ulp(dtype, expected) : 0);
    if (gelu && wide && std::fabs(x) < 40) slack += 4 * x * x * ulp;
    if (gelu && half) slack += 6 * ulp;
    if (op == UnaryOp::gelu_tanh && wide && std::fabs(x) < 40)
        slack += 8 * std::fabs(static_cast<double>(exact::gelu_tanh_argument(x))) * ulp;
    return slack;
}

void expect_near_twins(const ElementwiseRow<UnaryOp>& row, const Buffer& x) {
    const Results results = unary_twins(x, row.op);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const double expected = results.cpu.get(i);
        ASSERT_TRUE(near(results.cuda.get(i), expected, x.dtype(),
                         unary_slack(row.op, x.dtype(), x.get(i), expected)))
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

TEST(CudaUnary, LaunchesNothingForAnEmptyArray) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0);
    const auto before = cuda::call_counts().launches;
    cuda::unary(none, none, UnaryOp::exp, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
