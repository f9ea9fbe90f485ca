#include "io/picture/readers.h"

#include <gtest/gtest.h>

#include <vector>

namespace engine {
namespace {

/// EXIF data with one entry with this tag and type, in either byte order.
std::vector<std::uint8_t> exif(bool little, unsigned tag, unsigned type, unsigned value) {
    std::vector<std::uint8_t> out{static_cast<std::uint8_t>(little ? 'I' : 'M'),
                                  static_cast<std::uint8_t>(little ? 'I' : 'M')};
    const auto u16 = [&](unsigned number) {
        const auto low = static_cast<std::uint8_t>(number);
        const auto high = static_cast<std::uint8_t>(number >> 8);
        out.push_back(little ? low : high);
        out.push_back(little ? high : low);
    };
    const auto u32 = [&](unsigned number) {
        u16(little ? number & 0xFFFF : number >> 16);
        u16(little ? number >> 16 : number & 0xFFFF);
    };
    u16(42);
    u32(8);
    u16(1);
    u16(tag);
    u16(type);
    u32(1);
    u16(value);
    u16(0);
    return out;
}

TEST(Exif, GivesTheOrientationInBothByteOrders) {
    for (unsigned value = 1; value <= 8; ++value) {
        EXPECT_EQ(exif_orientation(exif(true, 0x0112, 3, value)), static_cast<int>(value));
        EXPECT_EQ(exif_orientation(exif(false, 0x0112, 3, value)), static_cast<int>(value));
    }
}

TEST(Exif, ThatSaysNothingOfUseMeansUpright) {
    EXPECT_EQ(exif_orientation({}), 1);
    EXPECT_EQ(exif_orientation(exif(true, 0x0112, 3, 0)), 1);
    EXPECT_EQ(exif_orientation(exif(true, 0x0112, 3, 9)), 1);
    EXPECT_EQ(exif_orientation(exif(true, 0x0112, 4, 6)), 1) << "another type";
    EXPECT_EQ(exif_orientation(exif(true, 0x0110, 3, 6)), 1) << "another tag";
}

TEST(Exif, CutShortOrPointingBeyondItsEndIsReadAsFarAsItGoes) {
    const auto whole = exif(true, 0x0112, 3, 6);
    for (std::size_t size = 0; size < whole.size() - 3; ++size)
        EXPECT_EQ(exif_orientation(std::span(whole).first(size)), 1) << size;
    auto beyond = whole;
    for (std::size_t i = 4; i < 8; ++i) beyond[i] = 0xFF;
    EXPECT_EQ(exif_orientation(beyond), 1);
    auto many = whole;
    many[8] = many[9] = 0xFF;  // entries
    EXPECT_EQ(exif_orientation(many), 6);
}

/// A 2 x 3 picture whose grey levels are digits, shown row by row.
std::string seen(int orientation) {
    Picture picture{2, 3, {}};
    for (std::uint8_t i = 1; i <= 6; ++i) picture.rgb.insert(picture.rgb.end(), 3, i);
    const Picture out = upright(picture, orientation);
    std::string text;
    for (int y = 0; y < out.height; ++y) {
        for (int x = 0; x < out.width; ++x)
            text +=
                static_cast<char>('0' + out.rgb[static_cast<std::size_t>(y * out.width + x) * 3]);
        text += ' ';
    }
    return text;
}

TEST(Exif, TurnsAPictureAsItsOrientationSays) {
    EXPECT_EQ(seen(1), "12 34 56 ");
    EXPECT_EQ(seen(2), "21 43 65 ") << "mirrored";
    EXPECT_EQ(seen(3), "65 43 21 ") << "upside down";
    EXPECT_EQ(seen(4), "56 34 12 ");
    EXPECT_EQ(seen(5), "135 246 ");
    EXPECT_EQ(seen(6), "531 642 ") << "turned clockwise";
    EXPECT_EQ(seen(7), "642 531 ");
    EXPECT_EQ(seen(8), "246 135 ") << "turned counterclockwise";
}

}  // namespace
}  // namespace engine
