#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <functional>
#include <string_view>

#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

using Function = std::function<long double(long double)>;

struct UnaryCase {
    UnaryOp op;
    const char* name;
    Function exact;
    bool rounds_once;  ///< one IEEE operation: nothing but the rounding of the result
};

/// The functions once more, in long double.
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
long double sign(long double x) { return static_cast<long double>((x > 0) - (x < 0)); }
long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }
// NaN at -infinity, where PyTorch answers NaN too.
long double gelu(long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }
long double gelu_grad(long double x) {
    const long double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0L));
    return std::erfc(-x / std::sqrt(2.0L)) / 2 + x * density;
}

/// By halving the interval: slow, and leans on nothing but erf and erfc.
long double erfinv(long double x) {
    const long double size = std::fabs(x);
    if (size == 1) return x * std::numeric_limits<long double>::infinity();
    if (!(size < 1)) return std::numeric_limits<long double>::quiet_NaN();
    // The next term is pi / 12 x^2 as large.
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

/// 16-bit types compute in f32 before they round; f64 has only its own rounding, and some units for
/// functions of several steps: erfc multiplies the error of its argument by x^2, and the two terms
/// of gelu's derivative, at most about 1, cancel.
double slack_of(const UnaryCase& c, DType dtype, double x, double expected) {
    if (c.rounds_once && dtype != DType::f16 && dtype != DType::bf16) return 0;
    const double ulp = 2 * half_ulp(dtype == DType::f64 ? DType::f64 : DType::f32, expected);
    if (dtype != DType::f64) return 2 * ulp;
    const bool erfc = c.op == UnaryOp::gelu || c.op == UnaryOp::gelu_grad;
    return 4 * ulp + (erfc && std::fabs(x) < 40 ? 2 * x * x * ulp : 0) +
           (c.op == UnaryOp::gelu_grad ? 0x1p-51 : 0);
}

void expect_unary(const UnaryCase& c, const Buffer& x) {
    Buffer y(x.dtype(), x.size());
    cpu::unary(y, x, c.op, {});
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const auto expected = static_cast<double>(c.exact(static_cast<long double>(x.get(i))));
        ASSERT_TRUE(near(y.get(i), expected, x.dtype(), slack_of(c, x.dtype(), x.get(i), expected)))
            << c.name << " of " << x.get(i);
    }
}

Buffer special_values(DType dtype) {
    Buffer x(dtype, {0.0,     -0.0,    1.0,        -1.0,       65504.0,  -65504.0, 65519.99,
                     65520.0, 0x1p-25, 0x1p-24,    0x1p-14,    0x1p-149, 0x1p-130, 11.09,
                     88.72,   88.73,   -87.3,      -95.0,      -103.9,   -104.1,   0.6249,
                     0.6251,  9.0,     0.70710678, 1.41421356, 3e38,     1e-30});
    Buffer all(dtype, x.size() + 3);
    std::memcpy(all.array().data, x.bytes().data(), x.bytes().size());
    all.set(x.size(), static_cast<double>(infinity));
    all.set(x.size() + 1, static_cast<double>(-infinity));
    all.set(x.size() + 2, static_cast<double>(nan));
    return all;
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

/// Every 262,147th f32: the whole range of exponents.
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
double sigmoid_backward(double a, double b) { return a * b * (1 - b); }
double tanh_backward(double a, double b) { return a * (1 - b * b); }
double remainder(double a, double b) {
    const double r = std::fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace exact

/// Size of the error before the last rounding, in units of f32 of this value: up to three f32
/// roundings; 1 - b and 1 - b b lose what cancels, relative to 1.
double scale_of(BinaryOp op, double a, double b) {
    if (op == BinaryOp::sigmoid_backward) return std::fabs(a * b) * (1 + std::fabs(b));
    if (op == BinaryOp::tanh_backward) return std::fabs(a) * (1 + b * b);
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
        // Sixteen bits: an f32 rounding comes before theirs.
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

TEST(Compare, FollowsIeeeForEveryTypeAndRelation) {
    const std::vector<double> u = {1, 2, 3, 0, static_cast<double>(nan), 1};
    const std::vector<double> v = {1, 3, 2, -0.0, 1, static_cast<double>(nan)};
    for (DType dtype : floating) {
        const Buffer a(dtype, u), b(dtype, v);
        Buffer y(DType::boolean, a.size());
        const auto result = [&](CompareOp op) {
            cpu::compare(y, a, b, op, {});
            return y.values();
        };
        using V = std::vector<double>;
        EXPECT_EQ(result(CompareOp::eq), (V{1, 0, 0, 1, 0, 0}));
        EXPECT_EQ(result(CompareOp::ne), (V{0, 1, 1, 0, 1, 1}));
        EXPECT_EQ(result(CompareOp::lt), (V{0, 1, 0, 0, 0, 0}));
        EXPECT_EQ(result(CompareOp::le), (V{1, 1, 0, 1, 0, 0}));
        EXPECT_EQ(result(CompareOp::gt), (V{0, 0, 1, 0, 0, 0}));
        EXPECT_EQ(result(CompareOp::ge), (V{1, 0, 1, 1, 0, 0}));
    }
}

TEST(Compare, UsesAnOperandOfSizeOneForEveryElement) {
    const Buffer a(DType::i64, {1, 2, 3}), b(DType::i64, {2});
    Buffer y(DType::boolean, 3);
    cpu::compare(y, a, b, CompareOp::lt, {});
    EXPECT_EQ(y.values(), (std::vector<double>{1, 0, 0}));
    cpu::compare(y, b, a, CompareOp::lt, {});
    EXPECT_EQ(y.values(), (std::vector<double>{0, 0, 1}));
}

TEST(Where, CopiesBitsOfTheChosenSide) {
    const Buffer condition(DType::boolean, {1, 0, 1});
    Buffer a(DType::f32, {1, 2, 3});
    a.as<std::uint32_t>()[0] = 0x7fa12345;  // a signalling NaN
    const Buffer b(DType::f32, {-1});
    Buffer y(DType::f32, 3);
    cpu::where(y, condition, a, b, {});
    EXPECT_EQ(y.as<std::uint32_t>()[0], 0x7fa12345u);
    EXPECT_EQ(y.get(1), -1);
    EXPECT_EQ(y.get(2), 3);
}

}  // namespace
}  // namespace kernels::test
