#include "tensor/dims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "engine/base/error.h"
#include "support/expectations.h"
#include "tensor/tensor.h"

namespace engine {
namespace {

using testing::HasSubstr;

constexpr std::int64_t huge = std::int64_t{1} << 62;

TEST(Dims, HoldEightNumbersAndRefuseANinth) {
    Dims dims(std::vector<std::int64_t>(8, 1));
    EXPECT_EQ(dims.rank(), 8);
    EXPECT_THAT(error_text(ErrorCode::shape, [&] { dims.push_back(1); }),
                HasSubstr("at most 8 dimensions, not 9"));
    EXPECT_EQ(dims.rank(), 8);
    EXPECT_THAT(error_text(ErrorCode::shape, [] { Dims(std::vector<std::int64_t>(40, 0)); }),
                HasSubstr("not 40"));
}

TEST(CheckShape, RefusesANegativeSize) {
    EXPECT_THAT(error_text(ErrorCode::shape,
                           [] {
                               check_shape({2, -3});
                           }),
                HasSubstr("(2, -3) has a negative size"));
    EXPECT_THAT(error_text(ErrorCode::shape, [] { check_shape({-2, -3}); }), HasSubstr("negative"));
}

TEST(CheckShape, RefusesAProductBeyondTheMostElements) {
    EXPECT_EQ(error_text(ErrorCode::shape, [] { check_shape({max_elements, 1}); }), "");
    EXPECT_THAT(error_text(ErrorCode::shape,
                           [] {
                               check_shape({max_elements, 2});
                           }),
                HasSubstr("too large"));
    EXPECT_THAT(error_text(ErrorCode::shape,
                           [] {
                               check_shape({huge, huge});
                           }),
                HasSubstr(std::to_string(huge)));
}

TEST(CheckShape, LeavesZerosOutOfTheProduct) {
    // The strides of an empty tensor are products of its other sizes.
    EXPECT_EQ(error_text(ErrorCode::shape, [] { check_shape({0, max_elements}); }), "");
    EXPECT_THAT(error_text(ErrorCode::shape,
                           [] {
                               check_shape({huge, 0, huge});
                           }),
                HasSubstr("too large"));
}

TEST(CheckShape, IsAskedForEveryTensor) {
    EXPECT_THAT(error_text(ErrorCode::shape,
                           [] {
                               Tensor::empty({huge, huge}, DType::f32);
                           }),
                HasSubstr("too large"));
    EXPECT_THAT(error_text(ErrorCode::shape, [] { Tensor::zeros({-1}, DType::f32); }),
                HasSubstr("negative"));
}

TEST(CheckedArithmetic, ThrowsWhereTheResultExceeds64Bits) {
    EXPECT_EQ(checked_sum(huge, huge - 1), 2 * (huge - 1) + 1);
    EXPECT_EQ(checked_product(huge, -2), std::numeric_limits<std::int64_t>::min());
    EXPECT_THAT(error_text(ErrorCode::shape, [] { checked_sum(huge, huge); }), HasSubstr("add up"));
    EXPECT_THAT(error_text(ErrorCode::shape, [] { checked_product(huge, 2); }),
                HasSubstr("multiply"));
}

}  // namespace
}  // namespace engine
