#include "kernels/multi_tensor.h"

#include <gtest/gtest.h>

#include "kernels/support.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

std::vector<ConstArray> views(const std::vector<Buffer>& buffers) {
    std::vector<ConstArray> result;
    for (const Buffer& b : buffers) result.push_back(b.view());
    return result;
}

Judgement reference(const std::vector<Buffer>& grads) {
    Judgement j{};
    for (const Buffer& g : grads)
        for (double v : g.values()) {
            const double m = std::fabs(v);
            ++j.total;
            j.nonzero += m != 0 ? 1 : 0;
            j.to_zero += m != 0 && m <= 0x1p-25 ? 1 : 0;
            j.subnormal += m > 0x1p-25 && stored(DType::f16, m) < 0x1p-14 ? 1 : 0;
            j.overflow += !(m < 65520) ? 1 : 0;
            j.sum_squares += v * v;
            if (!std::isfinite(v)) j.found_inf = 1;
            if (std::isnan(m) || m > static_cast<double>(j.abs_max))
                j.abs_max = static_cast<float>(m);
        }
    return j;
}

void expect_judgement(const std::vector<Buffer>& grads) {
    const Judgement expected = reference(grads);
    Judgement j{};
    cpu::multi_tensor_judge(&j, views(grads), {});
    EXPECT_EQ(j.found_inf, expected.found_inf);
    EXPECT_EQ(j.total, expected.total);
    EXPECT_EQ(j.nonzero, expected.nonzero);
    EXPECT_EQ(j.to_zero, expected.to_zero);
    EXPECT_EQ(j.subnormal, expected.subnormal);
    EXPECT_EQ(j.overflow, expected.overflow);
    if (std::isnan(expected.abs_max)) {
        EXPECT_TRUE(std::isnan(j.abs_max));
        EXPECT_TRUE(std::isnan(j.sum_squares));
    } else {
        EXPECT_EQ(j.abs_max, expected.abs_max);
        // Squares and sums in double: a unit for each addition at the very most.
        if (expected.found_inf == 0) {
            EXPECT_NEAR(j.sum_squares, expected.sum_squares, 1e-9 * expected.sum_squares);
        }
    }
}

/// Values of every class the judge counts, and both sides of every bound.
Buffer bounds(DType dtype) {
    std::vector<double> values = {0, -0.0, 65504, 65520, -65520, 1e5, 0x1p-149};
    for (double v : {0x1p-25, 0x1p-24, 0x1p-14, 0x1p-14 - 0x1p-25, 65520.0})
        for (double f : {1.0, 1 - 0x1p-23, 1 + 0x1p-23, 1 - 0x1p-8, 1 + 0x1p-7})
            values.push_back(v * f);
    return Buffer(dtype, values);
}

TEST(Judge, CountsEveryClassOfValues) {
    on_every_target([] {
        for (DType dtype : floating) {
            expect_judgement({bounds(dtype)});
            for (std::int64_t size : {0, 1, 31, 32, 33, 1000})
                expect_judgement({random_buffer(dtype, size, 1, 0, 1e-5), bounds(dtype)});
        }
    });
}

TEST(Judge, FindsInfinityAndNaNWhereverTheyAre) {
    on_every_target([] {
        for (DType dtype : floating)
            for (float bad : {infinity, -infinity, nan})
                for (std::int64_t place : {0, 16, 32}) {
                    Buffer grad = random_buffer(dtype, 33, 2);
                    grad.set(place, static_cast<double>(bad));
                    expect_judgement({random_buffer(DType::f32, 5, 3), grad});
                }
    });
}

TEST(Judge, MixesTypesAndSumsOverManyPiecesTheSameForEveryThreadCount) {
    std::vector<Buffer> grads;
    for (DType dtype : floating)
        for (std::int64_t size : {100003, 5, 0, 70000})
            grads.push_back(random_buffer(dtype, size, 4));
    Judgement one{};
    cpu::set_threads(1);
    cpu::multi_tensor_judge(&one, views(grads), {});
    with_threads([&](int) {
        expect_judgement(grads);
        Judgement j{};
        cpu::multi_tensor_judge(&j, views(grads), {});
        EXPECT_EQ(j.sum_squares, one.sum_squares);
    });
}

TEST(Judge, SquaresValuesWhoseSquareLeavesF32) {
    const Buffer grad(DType::f32, {1e25, 1e-30});
    Judgement j{};
    cpu::multi_tensor_judge(&j, views({grad}), {});
    EXPECT_NEAR(j.sum_squares / 1e50, 1, 1e-6);
    EXPECT_EQ(j.found_inf, 0);
}

TEST(Judge, GivesZerosForNoGradients) {
    Judgement j{};
    j.total = 7;
    cpu::multi_tensor_judge(&j, {}, {});
    EXPECT_EQ(j.total, 0);
    EXPECT_EQ(j.found_inf, 0);
}

TEST(Unscale, MultipliesInPlaceAndRaisesFoundInf) {
    on_every_target([] {
        for (DType dtype : floating)
            for (std::int64_t size : {1, 31, 33, 1000}) {
                const Buffer before = random_buffer(dtype, size, 5, 0, 100);
                Buffer grad = before;
                float found = 0;
                const float inv = 1.0f / 3;
                const std::vector<Array> grads = {grad.array()};
                cpu::multi_tensor_unscale(grads, &inv, &found, {});
                EXPECT_EQ(found, 0);
                for (std::int64_t i = 0; i < size; ++i) {
                    const double exact = before.get(i) * static_cast<double>(inv);
                    const double product = dtype == DType::f64
                                               ? exact
                                               : static_cast<double>(static_cast<float>(exact));
                    ASSERT_EQ(grad.get(i), stored(dtype, product));
                }
                grad.set(size - 1, static_cast<double>(infinity));
                cpu::multi_tensor_unscale(grads, &inv, &found, {});
                EXPECT_EQ(found, 1);
            }
    });
}

TEST(Unscale, NeverLowersFoundInfAndJudgesTheIncomingValue) {
    Buffer grad(DType::f16, {65504, 1});
    const std::vector<Array> grads = {grad.array()};
    float found = 0;
    const float two = 2, half = 0.5f;
    cpu::multi_tensor_unscale(grads, &two, &found, {});  // overflows only by the product
    EXPECT_EQ(found, 0);
    EXPECT_EQ(grad.get(0), static_cast<double>(infinity));
    found = 1;
    Buffer fine(DType::f32, {1});
    cpu::multi_tensor_unscale(std::vector<Array>{fine.array()}, &half, &found, {});
    EXPECT_EQ(found, 1);
}

TEST(Unscale, LeavesEveryBitWhenTheFactorIsOne) {
    Buffer grad(DType::f32, {1, 2});
    grad.as<std::uint32_t>()[1] = 0x7f812345;  // a signalling NaN, which a product would make quiet
    float found = 0;
    const float one = 1;
    cpu::multi_tensor_unscale(std::vector<Array>{grad.array()}, &one, &found, {});
    EXPECT_EQ(grad.as<std::uint32_t>()[1], 0x7f812345u);
    EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace kernels::test
