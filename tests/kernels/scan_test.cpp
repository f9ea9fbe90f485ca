#include <gtest/gtest.h>

#include "kernels/recurrence.h"
#include "kernels/reduce.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

Buffer scanned(DType to, const Buffer& a, const Buffer& b, const ScanCase& c) {
    Buffer y(to, c.size());
    cpu::scan(y, given(a), given(b), c.outer, c.n, c.inner, c.reverse, {});
    return y;
}

TEST(Scan, FollowsTheRecurrenceInEveryTypeAndShape) {
    for (const DType dtype : floating)
        for (const ScanCase& c :
             scan_cases({{1, 1, 1}, {3, 33, 1}, {2, 31, 5}, {1, 7, 300}, {0, 5, 2}, {2, 0, 3}})) {
            const Buffer a = scan_factors(dtype, c), b = scan_terms(dtype, c);
            expect_recurrence(scanned(dtype, a, b, c), a, b, c);
            if (dtype != DType::f64) expect_recurrence(scanned(DType::f32, a, b, c), a, b, c);
        }
}

TEST(Scan, GoesOnFromTheValueBeforeItsRounding) {
    // In f16 2048 + 1 rounds to 2048: a sum rounded there would never grow.
    const Buffer x(DType::f16, std::vector<double>{2048, 1, 1, 1, 1});
    const ScanCase c{1, 5, 1, false, true, false};
    const Buffer y = scanned(DType::f16, Buffer(DType::f16, 0), x, c);
    EXPECT_EQ(y.values(), (std::vector<double>{2048, 2048, 2050, 2052, 2052}));
}

TEST(Scan, TakesEqualSharesOnAnyNumberOfThreads) {
    const ScanCase c{5, 200, 400, true, true, true};
    const Buffer a = scan_factors(DType::f32, c), b = scan_terms(DType::f32, c);
    const Buffer alone = scanned(DType::f32, a, b, c);
    with_threads([&](int) { EXPECT_EQ(scanned(DType::f32, a, b, c).bytes(), alone.bytes()); });
}

TEST(Scan, LeavesWhatLiesBeforeAnInfinityAlone) {
    const Buffer x(DType::f32, std::vector<double>{1, static_cast<double>(infinity), 2,
                                                   static_cast<double>(-infinity), 3});
    const Buffer none(DType::f32, 0);
    const Buffer y = scanned(DType::f32, none, x, {1, 5, 1, false, true, false});
    EXPECT_EQ(y.get(0), 1);
    EXPECT_EQ(y.get(2), static_cast<double>(infinity));
    EXPECT_TRUE(std::isnan(y.get(3)) && std::isnan(y.get(4)));
}

/// Any 64 bits, so that sums and products leave the range.
Buffer any_integers(std::int64_t size, std::uint64_t seed) {
    Buffer x(DType::i64, size);
    for (std::int64_t i = 0; i < size; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x.as<std::int64_t>()[i] = static_cast<std::int64_t>(seed ^ (seed >> 29));
    }
    return x;
}

/// The recurrence modulo 2^64, by plain loops.
void expect_wrapping_recurrence(Buffer y, Buffer a, Buffer b, const ScanCase& c) {
    for (std::int64_t column = 0; column < c.outer * c.inner; ++column) {
        const std::int64_t first = column / c.inner * c.n * c.inner + column % c.inner;
        std::uint64_t exact = 0;
        for (std::int64_t step = 0; step < c.n; ++step) {
            const std::int64_t at = first + (c.reverse ? c.n - 1 - step : step) * c.inner;
            const auto of = [at](Buffer& x) {
                return static_cast<std::uint64_t>(x.as<std::int64_t>()[at]);
            };
            const std::uint64_t factor = c.factors ? of(a) : 1, term = c.terms ? of(b) : 0;
            exact = step == 0 ? (c.terms ? term : factor) : term + factor * exact;
            ASSERT_EQ(of(y), exact) << "column " << column << " step " << step;
        }
    }
}

TEST(Scan, OfIntegersWrapsAround) {
    for (const ScanCase& c : scan_cases({{1, 1, 1}, {3, 33, 1}, {2, 31, 5}, {1, 7, 300}})) {
        const Buffer a = any_integers(c.factors ? c.size() : 0, 1);
        const Buffer b = any_integers(c.terms ? c.size() : 0, 2);
        expect_wrapping_recurrence(scanned(DType::i64, a, b, c), a, b, c);
    }
}

Buffer scanned_on_device(DType to, const Buffer& a, const Buffer& b, const ScanCase& c) {
    const DeviceBuffer factors(a), terms(b), y(to, c.size());
    const ConstArray none(nullptr, a.dtype(), 0);
    cuda::scan(y, c.factors ? ConstArray(factors) : none, c.terms ? ConstArray(terms) : none,
               c.outer, c.n, c.inner, c.reverse, {});
    return y.host();
}

void expect_scan(DType from, DType to, const ScanCase& c) {
    const Buffer a = scan_factors(from, c), b = scan_terms(from, c);
    expect_recurrence(scanned_on_device(to, a, b, c), a, b, c);
}

TEST(CudaScan, FollowsTheRecurrenceInEveryType) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating)
        for (const ScanCase& c : scan_cases({{2, 33, 3}, {2, 200, 1}, {1, 1500, 2}})) {
            expect_scan(dtype, dtype, c);
            if (dtype != DType::f64) expect_scan(dtype, DType::f32, c);
        }
}

TEST(CudaScan, FollowsTheRecurrenceInEveryShape) {
    HALFTONE_NEEDS_CUDA();
    // Parts of a thread, a warp and a tile; several tiles; and one thread per row for many rows.
    for (const ScanCase& c : scan_cases({{1, 1, 1},
                                         {0, 5, 2},
                                         {2, 0, 3},
                                         {1, 65, 1},
                                         {1, 127, 2},
                                         {1, 1023, 1},
                                         {1, 1024, 1},
                                         {2, 1025, 1},
                                         {1, 5000, 3},
                                         {200, 65, 90}}))
        expect_scan(DType::f32, DType::f32, c);
}

TEST(CudaScan, OfIntegersWrapsAround) {
    HALFTONE_NEEDS_CUDA();
    for (const ScanCase& c : scan_cases({{2, 33, 3}, {2, 200, 1}, {1, 1500, 2}})) {
        const Buffer a = any_integers(c.factors ? c.size() : 0, 1);
        const Buffer b = any_integers(c.terms ? c.size() : 0, 2);
        expect_wrapping_recurrence(scanned_on_device(DType::i64, a, b, c), a, b, c);
    }
}

TEST(CudaScan, LeavesWhatLiesBeforeAnInfinityAlone) {
    HALFTONE_NEEDS_CUDA();
    const ScanCase c{1, 3000, 1, false, true, false};
    Buffer x = random_buffer(DType::f32, c.size(), 5);
    x.set(1501, static_cast<double>(infinity));
    const Buffer y = scanned_on_device(DType::f32, Buffer(DType::f32, 0), x, c);
    EXPECT_TRUE(std::isfinite(y.get(1500)));
    EXPECT_EQ(y.get(1501), static_cast<double>(infinity));
    EXPECT_EQ(y.get(2999), static_cast<double>(infinity));
}

TEST(CudaScan, KeepsAProductAtZeroBehindAZero) {
    HALFTONE_NEEDS_CUDA();
    const ScanCase c{1, 100, 1, true, false, false};
    Buffer x(DType::f32, std::vector<double>(100, 2));
    x.set(40, 0);
    const Buffer y = scanned_on_device(DType::f32, x, Buffer(DType::f32, 0), c);
    EXPECT_EQ(y.get(39), 0x1p40);
    EXPECT_EQ(y.get(40), 0);
    EXPECT_EQ(y.get(99), 0);
}

TEST(CudaScan, GivesTheSameBitsEveryTime) {
    HALFTONE_NEEDS_CUDA();
    const ScanCase c{1, 5000, 2, true, true, true};
    const Buffer a = scan_factors(DType::f32, c), b = scan_terms(DType::f32, c);
    EXPECT_EQ(scanned_on_device(DType::f32, a, b, c).bytes(),
              scanned_on_device(DType::f32, a, b, c).bytes());
}

}  // namespace
}  // namespace kernels::test
