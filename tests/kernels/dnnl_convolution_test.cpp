#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/conv2d.h"
#include "kernels/conv2d_problem.h"
#include "kernels/support.h"

// One infinity among ones: it must reach exactly the sums that it is a term of, whatever an
// implementation adds to its operands to fill vectors, pairs and blocks.
namespace kernels::test::conv {
namespace {

constexpr std::int64_t spare = 64;  // elements after each operand
constexpr std::int64_t nowhere = -2;

enum Operand { x, w, y };  // a gradient is in the place of its tensor

/// The results for operands of ones with an inf at `at` of operand `holder`, computed in double as
/// operand `written`.
struct ExpectedSums {
    std::vector<double> sums;
    /// Sums with a term of the infinity and a zero of the padding: infinite or NaN, or as if the
    /// term were not there.
    std::vector<bool> meets_padding;
};

ExpectedSums sums_of_ones(const Conv2dShape& shape, Operand holder, std::int64_t at,
                          Operand written, std::int64_t size) {
    ExpectedSums expected{std::vector<double>(static_cast<std::size_t>(size)),
                          std::vector<bool>(static_cast<std::size_t>(size))};
    for_each_term(shape, [&](std::int64_t out, std::int64_t in, std::int64_t weight) {
        const std::int64_t place[] = {in, weight, out};
        if (written == x && in < 0) return;
        const auto sum = static_cast<std::size_t>(place[written]);
        if (in >= 0)
            expected.sums[sum] += place[holder] == at ? inf : 1;
        else if (place[holder] == at)
            expected.meets_padding[sum] = true;
    });
    return expected;
}

/// Computes the operand `written` from the other two.
void run_convolution(Operand written, std::array<Buffer, 3>& operands, const Conv2dShape& shape) {
    const auto part = [&](Operand o) {  // without the elements after it
        const std::int64_t sizes[] = {input_size(shape), weight_size(shape), output_size(shape)};
        return Array{operands[o].array().data, operands[o].dtype(), sizes[o]};
    };
    const Array none{nullptr, operands[x].dtype(), 0};
    if (written == x)
        cpu::conv2d_data_gradient(part(x), part(y), part(w), shape, {});
    else if (written == y)
        cpu::conv2d_forward(part(y), part(x), part(w), none, shape, {});
    else
        cpu::conv2d_weight_gradient(part(w), none, part(y), part(x), shape, {});
}

/// Whole numbers whose sums are exact, so that no order of the terms and no rounding of the way to
/// the result excuses a difference.
Buffer convolution_numbers(DType dtype, std::int64_t size, std::int64_t seed) {
    Buffer out(dtype, size);
    for (std::int64_t i = 0; i < size; ++i)
        out.set(i, static_cast<double>((i * 7 + i / 5 + seed) % 3 - 1));
    return out;
}

void expect_exact(DType dtype, const Conv2dShape& shape) {
    const Buffer factors[] = {convolution_numbers(dtype, input_size(shape), 1),
                              convolution_numbers(dtype, weight_size(shape), 2),
                              convolution_numbers(dtype, output_size(shape), 3)};
    for (const Operand written : {x, w, y}) {
        std::array<Buffer, 3> operands = {factors[x], factors[w], factors[y]};
        std::vector<double> sums(static_cast<std::size_t>(operands[written].size()));
        for_each_product(shape, [&](std::int64_t out, std::int64_t in, std::int64_t weight) {
            const std::int64_t place[] = {in, weight, out};
            double term = 1;
            for (const Operand o : {x, w, y})
                if (o != written) term *= factors[o].get(place[o]);
            sums[static_cast<std::size_t>(place[written])] += term;
        });
        // A result that nothing writes would keep this.
        for (std::int64_t i = 0; i < operands[written].size(); ++i) operands[written].set(i, 77);
        run_convolution(written, operands, shape);
        for (std::int64_t i = 0; i < operands[written].size(); ++i)
            ASSERT_EQ(operands[written].get(i), stored(dtype, sums[static_cast<std::size_t>(i)]))
                << to_string(dtype, shape) << ": element " << i << " of " << written;
    }
}

TEST(Conv2dExact, SumsOfManyShapes) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (const Conv2dShape& shape : many_shapes(80)) expect_exact(dtype, shape);
}

/// Windows that lie in the padding as a whole, and strides of a single output place.
TEST(Conv2dExact, SumsOfEmptyWindowsAndIdleStrides) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        expect_exact(dtype, {2, 65, 1, 4, 48, 2, 3, 1, 1, 2, 2, 3, 1});
        expect_exact(dtype, {4, 63, 2, 4, 32, 2, 1, 2, 2, 0, 2});
        expect_exact(dtype, {2, 64, 16, 4, 32, 2, 3, 2, 2, 0, 2, 2, 3, 2});
        expect_exact(dtype, {1, 8, 11, 5, 8, 3, 3, 2, 3, 0, 0, 1, 1, 2});
        expect_exact(dtype, {4, 65, 11, 5, 48, 3, 3, 1, 3, 2, 0, 1, 2});
        expect_exact(dtype, {2, 16, 14, 5, 3, 5, 3, 1, 2, 0, 0, 1, 2});
        expect_exact(dtype, {3, 40, 5, 28, 1, 1, 2, 1, 1, 0, 2, 2, 3});
    }
}

/// Blocks of 16 input channels of which the last is not full, under dilated rows.
TEST(Conv2dExact, SumsOfDilatedRowsAndOddChannels) {
    for (const DType dtype : {DType::f32, DType::bf16})
        for (const std::int64_t c : {33, 40, 63, 66, 112, 130})
            for (const std::int64_t r : {1, 3})
                for (const std::int64_t dilation : {2, 3}) {
                    const Conv2dShape shape{.n = 2,
                                            .c = c,
                                            .h = 9,
                                            .w = 7,
                                            .k = 16,
                                            .r = r,
                                            .s = 3,
                                            .pad_w = 1,
                                            .dilation_h = dilation};
                    expect_exact(dtype, shape);
                    if (c % 2 != 0) continue;
                    Conv2dShape halves = shape;
                    halves.groups = 2;
                    expect_exact(dtype, halves);
                }
}

std::array<Buffer, 3> filled(DType dtype, const Conv2dShape& shape, double value, double behind) {
    const auto of = [&](std::int64_t size) {
        std::vector<double> values(static_cast<std::size_t>(size), value);
        values.resize(values.size() + spare, behind);
        return Buffer(dtype, values);
    };
    return {of(input_size(shape)), of(weight_size(shape)), of(output_size(shape))};
}

std::vector<double> result(const Buffer& operand) {
    std::vector<double> values = operand.values();
    values.resize(values.size() - spare);
    return values;
}

void expect(const Buffer& operand, const ExpectedSums& expected) {
    const std::vector<double> actual = result(operand);
    ASSERT_EQ(actual.size(), expected.sums.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (expected.meets_padding[i] && !std::isfinite(actual[i])) continue;
        ASSERT_EQ(actual[i], stored(operand.dtype(), expected.sums[i])) << "element " << i;
    }
}

/// Puts one infinity at several places of either factor.
void check(DType dtype, const Conv2dShape& shape, Operand written) {
    for (const Operand holder : {x, w, y}) {
        if (holder == written) continue;
        std::array<Buffer, 3> operands = filled(dtype, shape, 1, 1);
        const std::int64_t size = operands[holder].size() - spare;
        for (std::int64_t at = 0; at < size; at += 1 + size / 7) {
            operands[holder].set(at, inf);
            run_convolution(written, operands, shape);
            operands[holder].set(at, 1);
            SCOPED_TRACE(to_string(dtype, shape) + ": " + std::to_string(written) +
                         " with infinity at " + std::to_string(at) + " of " +
                         std::to_string(holder));
            expect(operands[written],
                   sums_of_ones(shape, holder, at, written, operands[written].size() - spare));
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

void check_all(DType dtype, const Conv2dShape& shape) {
    for (const Operand written : {x, w, y}) check(dtype, shape, written);
}

TEST(Conv2dInfinity, ReachesItsOwnSumsWithoutPadding) {
    for (const DType dtype : floating) {
        // Odd channel counts and odd rows, which oneDNN's bf16 pairs do not fill.
        check_all(dtype, {.n = 2, .c = 3, .h = 4, .w = 5, .k = 17, .r = 2, .s = 3});
        check_all(dtype, {.n = 2, .c = 17, .h = 4, .w = 4, .k = 7, .r = 2, .s = 2});
        check_all(dtype, {.n = 1, .c = 32, .h = 5, .w = 7, .k = 1, .r = 3, .s = 1});
        check_all(dtype, {.n = 1, .c = 1, .h = 4, .w = 2, .k = 17, .r = 1, .s = 2, .stride_h = 3});
        check_all(dtype, {.n = 2, .c = 9, .h = 5, .w = 6, .k = 6, .r = 2, .s = 2, .groups = 3});
        check_all(dtype, {.n = 1,
                          .c = 32,
                          .h = 4,
                          .w = 5,
                          .k = 32,
                          .r = 1,
                          .s = 2,
                          .dilation_w = 2,
                          .groups = 32});
        check_all(dtype, {.n = 1,
                          .c = 16,
                          .h = 7,
                          .w = 7,
                          .k = 16,
                          .r = 3,
                          .s = 3,
                          .stride_h = 2,
                          .stride_w = 2});
    }
}

TEST(Conv2dInfinity, ReachesItsOwnSumsOfManyShapes) {
    for (const DType dtype : floating)
        for (const Conv2dShape& shape : many_shapes(25)) check_all(dtype, shape);
}

TEST(Conv2dInfinity, ReachesItsOwnPixelsOfADataGradientInSpiteOfPadding) {
    for (const DType dtype : floating)
        for (const std::int64_t channels : {3, 17, 64})
            for (const std::int64_t stride : {1, 2}) {
                Conv2dShape shape{.n = 1, .c = channels, .h = 5, .w = 4, .k = 8, .r = 3, .s = 2};
                shape.stride_h = shape.stride_w = stride;
                shape.pad_h = 1;
                check(dtype, shape, x);
            }
}

// Memory after an operand, and earlier contents of scratch memory, must not be part of a sum.
void check_surroundings(DType dtype, const Conv2dShape& shape, Operand written) {
    const Conv2dShape before{.n = 2, .c = 16, .h = 6, .w = 8, .k = 16, .r = 3, .s = 1};
    std::array<Buffer, 3> nan = filled(dtype, before, std::nan(""), 0);
    run_convolution(written, nan, before);
    std::array<Buffer, 3> ones = filled(dtype, shape, 1, std::nan(""));
    run_convolution(written, ones, shape);
    SCOPED_TRACE(to_string(dtype, shape) + ": " + std::to_string(written));
    expect(ones[written], sums_of_ones(shape, x, nowhere, written, ones[written].size() - spare));
}

TEST(Conv2dInfinity, NothingBesideTheOperandsReachesASum) {
    for (const DType dtype : floating)
        for (const std::int64_t c : {1, 3, 17})
            for (const std::int64_t k : {1, 3, 16})
                for (const std::int64_t width : {1, 2, 5})
                    for (const std::int64_t stride : {1, 3}) {
                        const Conv2dShape shape{1,      c,     2, width, k, 2, 2 - width % 2,
                                                stride, stride};
                        for (const Operand written : {x, w, y})
                            check_surroundings(dtype, shape, written);
                    }
}

}  // namespace
}  // namespace kernels::test::conv
