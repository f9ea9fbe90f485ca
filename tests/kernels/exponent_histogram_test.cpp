#include "kernels/exponent_histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// Counts one value after the other, by frexp.
struct Reference {
    std::map<int, std::int64_t> bins;
    std::int64_t zero = 0, below = 0, infinite = 0, nan = 0;
    std::optional<double> largest, smallest;

    explicit Reference(const std::vector<double>& values) {
        for (const double value : values) add(std::fabs(value));
    }

private:
    void add(double magnitude) {
        if (std::isnan(magnitude)) {
            ++nan;
        } else if (std::isinf(magnitude)) {
            ++infinite;
        } else if (magnitude == 0) {
            ++zero;
        } else {
            int exponent = 0;
            std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
            --exponent;
            ++(exponent < -48 ? below : bins[std::min(exponent, 17)]);
            largest = std::max(largest.value_or(magnitude), magnitude);
            smallest = std::min(smallest.value_or(magnitude), magnitude);
        }
    }
};

std::optional<double> largest_of(const ExponentCounts& counts) {
    if (counts.largest == 0) return std::nullopt;
    return std::bit_cast<double>(counts.largest);
}
std::optional<double> smallest_of(const ExponentCounts& counts) {
    if (counts.smallest_inverted == 0) return std::nullopt;
    return std::bit_cast<double>(~counts.smallest_inverted);
}

void expect_counts(const ExponentCounts& counts, const Reference& expected) {
    for (int exponent = -48; exponent <= 17; ++exponent) {
        const auto found = expected.bins.find(exponent);
        EXPECT_EQ(counts.bins[exponent + 48], found == expected.bins.end() ? 0 : found->second)
            << "exponent " << exponent;
    }
    EXPECT_EQ(counts.zero, expected.zero);
    EXPECT_EQ(counts.below, expected.below);
    EXPECT_EQ(counts.infinite, expected.infinite);
    EXPECT_EQ(counts.nan, expected.nan);
    EXPECT_EQ(largest_of(counts), expected.largest);
    EXPECT_EQ(smallest_of(counts), expected.smallest);
}

ExponentCounts counts_of(ConstArray x) {
    ExponentCounts counts{};
    cpu::count_exponents(&counts, x, {});
    return counts;
}

void expect_same_counts(const ExponentCounts& actual, const ExponentCounts& expected) {
    EXPECT_EQ(std::memcmp(&actual, &expected, sizeof actual), 0);
}

/// Every bit pattern of a 16-bit type.
Buffer every_pattern(DType dtype) {
    Buffer x(dtype, 65536);
    for (std::uint32_t bits = 0; bits < 65536; ++bits)
        x.as<std::uint16_t>()[bits] = static_cast<std::uint16_t>(bits);
    return x;
}

/// Random bits: every exponent, subnormals, infinities and NaN.
Buffer random_bits(DType dtype, std::int64_t size, unsigned seed) {
    Buffer x(dtype, size);
    std::mt19937_64 engine(seed);
    auto* bytes = x.as<unsigned char>();
    for (std::size_t i = 0; i < x.bytes().size(); ++i)
        bytes[i] = static_cast<unsigned char>(engine());
    return x;
}

/// Magnitudes around the limits of the bins.
Buffer ends(DType dtype) {
    std::vector<double> values;
    for (int exponent : {-50, -49, -48, -47, -25, -24, -14, 0, 15, 16, 17, 18, 19})
        for (double factor : {1.0, -1.0, 1 - 0x1p-11, 1 + 0x1p-10})
            values.push_back(std::ldexp(factor, exponent));
    return Buffer(dtype, values);
}

TEST(ExponentHistogram, CountsEveryPatternOfSixteenBits) {
    on_every_target([] {
        for (DType dtype : {DType::f16, DType::bf16}) {
            const Buffer x = every_pattern(dtype);
            expect_counts(counts_of(x), Reference(x.values()));
        }
    });
}

TEST(ExponentHistogram, CountsRandomBitsOfEveryTypeAndSize) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size :
                 {0, 1, 7, 31, 64, 127, 128, 129, 1000, 1023, 1024, 1153, 200'003}) {
                const Buffer x = random_bits(dtype, size, static_cast<unsigned>(size) + 1);
                expect_counts(counts_of(x), Reference(x.values()));
            }
    });
}

/// `size` values of `spread` neighbouring exponents, of which `top` is the largest, and zeros.
Buffer close_exponents(DType dtype, std::int64_t size, int top, int spread) {
    std::vector<double> values;
    for (int i = 0; i < size; ++i) {
        const double fraction = 1 + (i % 97) / 128.0;
        const double value = std::ldexp(i % 2 == 0 ? fraction : -fraction, top - i % spread);
        values.push_back(i % 5 == 4 ? std::copysign(0.0, value) : value);
    }
    return Buffer(dtype, values);
}

// They are counted in another way than values all over the range of their type.
TEST(ExponentHistogram, CountsValuesOfNeighbouringExponents) {
    on_every_target([] {
        for (DType dtype : floating)
            for (int top : {127, 15, 0, -40, -100})
                for (int spread : {1, 3, 4, 5, 13, 26, 27, 47, 48, 49})
                    for (std::int64_t size : {1, 15, 64, 100, 4095, 4096, 4097, 9001}) {
                        SCOPED_TRACE(::testing::Message()
                                     << "top " << top << " spread " << spread << " size " << size);
                        const Buffer x = close_exponents(dtype, size, top, spread);
                        expect_counts(counts_of(x), Reference(x.values()));
                    }
    });
}

TEST(ExponentHistogram, CountsZerosAlone) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size : {1, 63, 5000}) {
                const Buffer x(dtype, size);
                expect_counts(counts_of(x), Reference(x.values()));
            }
    });
}

TEST(ExponentHistogram, PutsTheEndsOfBinsInTheUpperOne) {
    on_every_target([] {
        for (DType dtype : floating) {
            const Buffer x = ends(dtype);
            expect_counts(counts_of(x), Reference(x.values()));
        }
    });
    const ExponentCounts counts =
        counts_of(Buffer(DType::f32, {1, 1.999, 2, 0x1p-48, 0x1p-49, 0x1p18, 0x1p100}));
    EXPECT_EQ(counts.bins[48], 2);
    EXPECT_EQ(counts.bins[49], 1);
    EXPECT_EQ(counts.bins[0], 1);
    EXPECT_EQ(counts.below, 1);
    EXPECT_EQ(counts.bins[65], 2);
}

TEST(ExponentHistogram, AddsSeveralArraysWithAnyNumberOfThreads) {
    const Buffer a = random_bits(DType::f32, 300'001, 1), b = random_bits(DType::f16, 70'003, 2),
                 c = random_bits(DType::f64, 100'003, 3);
    std::vector<double> all = a.values();
    for (const Buffer* more : {&b, &c})
        for (double value : more->values()) all.push_back(value);
    const Reference expected(all);
    with_threads([&](int) {
        ExponentCounts counts{};
        for (const Buffer* x : {&a, &b, &c}) cpu::count_exponents(&counts, *x, {});
        expect_counts(counts, expected);
    });
}

TEST(ExponentHistogram, KnowsNoExtremesWithoutAFiniteValueThatIsNotZero) {
    const ExponentCounts counts =
        counts_of(Buffer(DType::f32, {0, -0.0, inf, -inf, static_cast<double>(nan)}));
    EXPECT_EQ(largest_of(counts), std::nullopt);
    EXPECT_EQ(smallest_of(counts), std::nullopt);
    EXPECT_EQ(counts.zero, 2);
    EXPECT_EQ(counts.infinite, 2);
    EXPECT_EQ(counts.nan, 1);
}

TEST(CudaExponentHistogram, CountsAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : floating)
        for (std::int64_t size : awkward_sizes)
            for (std::int64_t skip : {0, 1}) {
                const Buffer x = random_bits(dtype, size + skip, static_cast<unsigned>(size));
                const DeviceBuffer on_device(x);
                DeviceValue<ExponentCounts> counts;
                cuda::count_exponents(counts.get(), from(on_device, skip), {});
                ExponentCounts expected{};
                Buffer copy = x;
                cpu::count_exponents(&expected, from(copy, skip), {});
                expect_same_counts(counts.host(), expected);
            }
}

TEST(CudaExponentHistogram, CountsEveryPatternAndAddsUp) {
    HALFTONE_NEEDS_CUDA();
    DeviceValue<ExponentCounts> counts;
    ExponentCounts expected{};
    const Buffer halves = every_pattern(DType::f16), brains = every_pattern(DType::bf16);
    for (const Buffer& x : {halves, brains, random_bits(DType::f32, beyond_a_grid, 7)}) {
        const DeviceBuffer on_device(x);
        cuda::count_exponents(counts.get(), on_device, {});
        cpu::count_exponents(&expected, x, {});
    }
    expect_same_counts(counts.host(), expected);
}

}  // namespace
}  // namespace kernels::test
