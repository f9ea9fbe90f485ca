#include "kernels/scan.h"

#include <gtest/gtest.h>

#include "kernels/recurrence.h"

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
    // In f16 2048 + 1 is 2048 again: a sum that went on from there would stay.
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

}  // namespace
}  // namespace kernels::test
