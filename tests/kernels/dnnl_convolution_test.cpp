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
namespace kernels::test {
namespace {

using namespace conv;

constexpr std::int64_t spare = 64;  // elements after each operand
constexpr double inf = std::numeric_limits<double>::infinity();

enum Operand { x, w, y };  // a gradient is in the place of its tensor

/// The results for operands of ones with an inf at `at` of operand `holder`, computed in double as
/// operand `written`.
std::vector<double> sums_of_ones(const Conv2dShape& shape, Operand holder, std::int64_t at,
                                 Operand written, std::int64_t size) {
    std::vector<double> sums(static_cast<std::size_t>(size));
    for_each_product(shape, [&](std::int64_t out, std::int64_t in, std::int64_t weight) {
        const std::int64_t place[] = {in, weight, out};
        sums[static_cast<std::size_t>(place[written])] += place[holder] == at ? inf : 1;
    });
    return sums;
}

/// Computes the operand `written` from the other two.
void run(Operand written, std::array<Buffer, 3>& operands, const Conv2dShape& shape) {
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

/// Puts one infinity at several places of either factor.
void check(DType dtype, const Conv2dShape& shape, Operand written) {
    for (const Operand holder : {x, w, y}) {
        if (holder == written) continue;
        std::array<Buffer, 3> operands = filled(dtype, shape, 1, 1);
        const std::int64_t size = operands[holder].size() - spare;
        for (std::int64_t at = 0; at < size; at += 1 + size / 7) {
            operands[holder].set(at, inf);
            run(written, operands, shape);
            operands[holder].set(at, 1);
            ASSERT_EQ(result(operands[written]),
                      sums_of_ones(shape, holder, at, written, operands[written].size() - spare))
                << to_string(dtype, shape) << ": " << written << " with infinity at " << at
                << " of " << holder;
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
    run(written, nan, before);
    std::array<Buffer, 3> ones = filled(dtype, shape, 1, std::nan(""));
    run(written, ones, shape);
    ASSERT_EQ(result(ones[written]),
              sums_of_ones(shape, x, -1, written, ones[written].size() - spare))
        << to_string(dtype, shape) << ": " << written;
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
}  // namespace kernels::test
