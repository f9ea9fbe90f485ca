#include "engine/number/number_text.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace engine {
namespace {

TEST(StoredNumber, SaysWhatFp16MakesOfOneTenth) {
    const StoredNumber half = store_number(fp16_format, parse_number("0.1", fp16_format));
    EXPECT_EQ(half.bits, 0x2e66u);
    EXPECT_EQ(half.value, 0.0999755859375);
    EXPECT_EQ(half.number_class, NumberClass::normal);
    EXPECT_NEAR(half.relative_error, -0.000244140625, 1e-15);  // −2^-12: both in 53 bits
    EXPECT_EQ(half.below, 0.09991455078125);
    EXPECT_EQ(half.above, 0.10003662109375);
    EXPECT_EQ(half.gap, 0x1p-14);
}

TEST(StoredNumber, HasNoErrorWhereTheNumberIsHeldOrNotFinite) {
    EXPECT_EQ(store_number(fp16_format, {0, true}).relative_error, 0);
    EXPECT_EQ(store_number(fp16_format, {0.5, true}).relative_error, 0);
    EXPECT_TRUE(std::isnan(store_number(fp16_format, {65520, true}).relative_error));
    EXPECT_TRUE(std::isnan(
        store_number(fp16_format, {std::numeric_limits<double>::infinity(), true}).error));
    const StoredNumber infinite = store_number(fp16_format, {1e6, true});
    EXPECT_EQ(infinite.below, 65504);
    EXPECT_FALSE(infinite.above);
    EXPECT_FALSE(store_number(fp8_e4m3_format, {448, true}).above);
    EXPECT_EQ(stored_bits(fp16_format, 0x0001).value, 0x1p-24);
    EXPECT_EQ(stored_bits(fp16_format, 0x0001).error, 0);
}

TEST(StoredNumber, ShowsTheDigitsThatRoundingDropped) {
    const Number tenth = parse_number("0.1", fp16_format);  // 1.1001100110011001100…
    EXPECT_EQ(dropped_bits(fp16_format, tenth, 13), "0110011001100");
    EXPECT_EQ(dropped_bits(tf32_format, tenth, 13), "0110011001100");
    EXPECT_EQ(dropped_bits(bf16_format, tenth, 16), "1100110011001100");
    EXPECT_EQ(dropped_bits(fp8_e4m3_format, tenth, 4), "1100");
    EXPECT_EQ(dropped_bits(fp8_e5m2_format, tenth, 4), "0110");
    EXPECT_EQ(dropped_bits(fp16_format, {0.5, true}, 3), "000");
    EXPECT_EQ(dropped_bits(fp16_format, {0, true}, 2), "00");
    // Below the smallest normal value the weight of the last place no longer changes.
    EXPECT_EQ(dropped_bits(fp16_format, {0x1.8p-25, true}, 4), "1100");
    EXPECT_EQ(dropped_bits(fp16_format, {0x1p-27, true}, 4), "0010");
    EXPECT_EQ(dropped_bits(fp16_format, {65520, true}, 4), "");
    EXPECT_EQ(dropped_bits(fp16_format, {std::nan(""), true}, 4), "");
}

}  // namespace
}  // namespace engine
