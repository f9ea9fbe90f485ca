#include <gtest/gtest.h>

#include "kernels/elementwise.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

const std::vector<DType> every_dtype = {DType::f64, DType::f32, DType::f16, DType::bf16,
                                        DType::i64, DType::i32, DType::u8,  DType::boolean};

bool same_bits(Half a, Half b) { return a.bits == b.bits; }
bool same_bits(BFloat16 a, BFloat16 b) { return a.bits == b.bits; }
bool same_bits(float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Compares cast() of x with the scalar functions of dtype.h, bit for bit, on every target.
template <class To, class From, class F>
void expect_scalar_result(DType to, DType from, const std::vector<From>& x, const F& scalar) {
    on_every_target([&] {
        std::vector<To> y(x.size());
        const auto size = static_cast<std::int64_t>(x.size());
        cpu::cast({y.data(), to, size}, {x.data(), from, size}, {});
        for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_TRUE(same_bits(y[i], scalar(x[i]))) << "element " << i;
    });
}

template <class T>
std::vector<T> all_patterns() {
    std::vector<T> result;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits)
        result.push_back({static_cast<std::uint16_t>(bits)});
    return result;
}

std::vector<float> float_sweep() {
    std::vector<float> result;
    for (std::uint64_t bits = 0; bits < 0x100000000; bits += 4093)
        result.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    // The ties of both formats, and their neighbours.
    for (std::uint32_t high = 0; high < 0x10000; ++high)
        for (std::uint32_t low : {0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u})
            result.push_back(std::bit_cast<float>(high << 16 | low));
    for (float f : {65504.0f, 65519.99f, 65520.0f, 0x1p-25f, std::nextafter(0x1p-25f, 0.0f),
                    std::nextafter(0x1p-25f, 1.0f), 0x1p-24f, 0x1p-14f, 0x1p-149f, infinity, nan})
        for (float g : {f, -f}) result.push_back(g);
    return result;
}

TEST(Cast, ReadsAllHalfPatternsAsTheScalarReference) {
    expect_scalar_result<float>(DType::f32, DType::f16, all_patterns<Half>(),
                                [](Half h) { return to_float(h); });
}

TEST(Cast, ReadsAllBFloat16PatternsAsTheScalarReference) {
    expect_scalar_result<float>(DType::f32, DType::bf16, all_patterns<BFloat16>(),
                                [](BFloat16 b) { return to_float(b); });
}

TEST(Cast, RoundsToHalfAsTheScalarReference) {
    expect_scalar_result<Half>(DType::f16, DType::f32, float_sweep(),
                               [](float f) { return to_half(f); });
}

TEST(Cast, RoundsToBFloat16AsTheScalarReference) {
    expect_scalar_result<BFloat16>(DType::bf16, DType::f32, float_sweep(),
                                   [](float f) { return to_bfloat16(f); });
}

TEST(Cast, GoesBetweenTheTwo16BitFormatsWithOneRounding) {
    expect_scalar_result<BFloat16>(DType::bf16, DType::f16, all_patterns<Half>(),
                                   [](Half h) { return to_bfloat16(to_float(h)); });
    expect_scalar_result<Half>(DType::f16, DType::bf16, all_patterns<BFloat16>(),
                               [](BFloat16 b) { return to_half(to_float(b)); });
}

TEST(Cast, RoundsDoubleOnce) {
    // Rounding to f32 first would make these a tie, which would then round the wrong way.
    const double above = 1 + 0x1p-11 + 0x1p-40;
    const Buffer x(DType::f64, {above, -above, 1 + 0x1p-8 + 0x1p-40, 0x1p-25 + 0x1p-60,
                                65519.9999999, 1e300, -1e-300});
    Buffer half(DType::f16, x.size()), brain(DType::bf16, x.size());
    cpu::cast(half, x, {});
    cpu::cast(brain, x, {});
    EXPECT_EQ(half.get(0), 1 + 0x1p-10);
    EXPECT_EQ(half.get(1), -1 - 0x1p-10);
    EXPECT_EQ(brain.get(2), 1 + 0x1p-7);
    EXPECT_EQ(half.get(3), 0x1p-24);
    EXPECT_EQ(half.get(4), 65504);
    EXPECT_EQ(half.get(5), static_cast<double>(infinity));
    EXPECT_EQ(half.get(6), 0);
    EXPECT_EQ(brain.get(5), static_cast<double>(infinity));
}

TEST(Cast, RoundsLargeIntegersOnce) {
    Buffer x(DType::i64, 2);
    x.as<std::int64_t>()[0] = (std::int64_t{1} << 62) + (std::int64_t{1} << 54) + 1;
    x.as<std::int64_t>()[1] = -x.as<std::int64_t>()[0];
    Buffer y(DType::bf16, 2);
    cpu::cast(y, x, {});
    EXPECT_EQ(y.get(0), 0x1p62 + 0x1p55);
    EXPECT_EQ(y.get(1), -0x1p62 - 0x1p55);
}

TEST(Cast, TakesEveryPairOfTypesAtEverySize) {
    for (DType from : every_dtype) {
        for (DType to : every_dtype) {
            for (std::int64_t size : sizes) {
                Buffer x(from, size), y(to, size);
                for (std::int64_t i = 0; i < size; ++i)
                    x.set(i, from == DType::boolean ? static_cast<double>(i % 3 == 0)
                                                    : static_cast<double>(i % 120));
                with_threads([&](int) {
                    cpu::cast(y, x, {});
                    for (std::int64_t i = 0; i < size; ++i) {
                        const double expected =
                            to == DType::boolean ? static_cast<double>(x.get(i) != 0) : x.get(i);
                        ASSERT_EQ(y.get(i), expected);
                    }
                });
            }
        }
    }
}

TEST(Cast, TruncatesFloatsToIntegersAndTestsThemAgainstZeroForBooleans) {
    const Buffer x(DType::f32, {2.9, -2.9, 0.0, static_cast<double>(nan), 1e30, -0.0});
    Buffer integer(DType::i64, 6), truth(DType::boolean, 6);
    cpu::cast(integer, x, {});
    cpu::cast(truth, x, {});
    const std::int64_t* i = integer.as<std::int64_t>();
    EXPECT_EQ(i[0], 2);
    EXPECT_EQ(i[1], -2);
    EXPECT_EQ(i[3], 0);
    EXPECT_EQ(i[4], std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(truth.values(), (std::vector<double>{1, 1, 0, 1, 1, 0}));
}

void expect_same_cast(DType to, const Buffer& x, std::int64_t skip_x = 0, std::int64_t skip_y = 0) {
    SCOPED_TRACE(::testing::Message()
                 << static_cast<int>(x.dtype()) << " to " << static_cast<int>(to) << ", "
                 << x.size() << " elements, starts " << skip_x << " " << skip_y);
    const std::int64_t size = std::max<std::int64_t>(0, x.size() - skip_x);
    Buffer expected = poisoned(to, size + skip_y);
    Buffer copy = x;
    Array out = expected;
    cpu::cast(size > 0 ? from(out, skip_y) : Array{out.data, to, 0}, from(copy, skip_x), {});
    const DeviceBuffer in(x), result(to, size + skip_y);
    out = result;
    cuda::cast(size > 0 ? from(out, skip_y) : Array{out.data, to, 0}, from(in, skip_x), {});
    EXPECT_TRUE(same(result.host(), expected));
}

TEST(CudaCast, GivesTheCpusBitsForEveryPairOfTypesAtEverySize) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (DType to : every_dtype)
            for (std::int64_t size : awkward_sizes)
                expect_same_cast(to, awkward_buffer(dtype, size, 1));
}

TEST(CudaCast, GoesOnBeyondOneGrid) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f32, DType::u8})
        for (DType to : {DType::bf16, DType::boolean})
            expect_same_cast(to, awkward_buffer(dtype, beyond_a_grid, 2));
}

TEST(CudaCast, ReadsAndWritesMisalignedStarts) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : every_dtype)
        for (DType to : every_dtype)
            for (std::int64_t skip : {1, 3}) {
                expect_same_cast(to, awkward_buffer(dtype, 101, 3), skip, 0);
                expect_same_cast(to, awkward_buffer(dtype, 101, 4), 0, skip);
            }
}

TEST(CudaCast, RoundsEvery16BitTieOnce) {
    HALFTONE_NEEDS_CUDA();
    Buffer x(DType::f64, 8 * 0x800);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const double tie = 1 + (static_cast<double>(i / 8) + 0.5) * 0x1p-10;
        const double away[] = {0, 0x1p-40, -0x1p-40, 0x1p-12, -0x1p-12, 0x1p-52, -0x1p-52, 0x1p-20};
        x.set(i, std::ldexp((tie + away[i % 8]) * (i % 3 == 0 ? -1 : 1),
                            static_cast<int>(i / 8 % 50) - 30));
    }
    expect_same_cast(DType::f16, x);
    expect_same_cast(DType::bf16, x);
}

TEST(CudaCast, ReadsEvery16BitPattern) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f16, DType::bf16}) {
        Buffer x(dtype, 0x10000);
        for (int i = 0; i < 0x10000; ++i) x.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(i);
        for (DType to : every_dtype) expect_same_cast(to, x);
    }
}

TEST(CudaCast, RoundsLargeIntegersOnce) {
    HALFTONE_NEEDS_CUDA();
    Buffer x(DType::i64, 4 * 62);
    for (int k = 0; k < 62; ++k) {
        const std::int64_t power = std::int64_t{1} << k;
        const std::int64_t tie = power + (power >> 8) + (power >> 11);
        std::int64_t* at = x.as<std::int64_t>() + 4 * static_cast<std::ptrdiff_t>(k);
        at[0] = tie;
        at[1] = tie + 1;
        at[2] = -tie + 1;
        at[3] = -tie - 1;
    }
    for (DType to : floating) expect_same_cast(to, x);
}

TEST(CudaCast, LaunchesNothingForAnEmptyArray) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0);
    const auto before = cuda::call_counts().launches;
    cuda::cast(DeviceBuffer(DType::boolean, 0), none, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
