#include "engine/picture.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cstdio>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "temp_folder.h"

namespace engine {
namespace {

using nlohmann::json;

/// Writes a PNG file in one of libpng's simple formats.
std::filesystem::path write_png(const test_support::TempFolder& folder, std::uint32_t format,
                                std::uint32_t width, std::uint32_t height,
                                const std::vector<std::uint16_t>& values) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = width;
    image.height = height;
    image.format = format;
    std::vector<std::uint8_t> bytes(values.begin(), values.end());
    const bool wide = (format & PNG_FORMAT_FLAG_LINEAR) != 0;
    const void* pixels = wide ? static_cast<const void*>(values.data()) : bytes.data();
    const auto file = folder / "picture.png";
    EXPECT_NE(png_image_write_to_file(&image, file.c_str(), 0, pixels, 0, nullptr), 0);
    return file;
}

/// Writes a JPEG file of one colour.
std::filesystem::path write_jpeg(const test_support::TempFolder& folder, int components,
                                 J_COLOR_SPACE space, std::uint8_t value) {
    const auto file = folder / "picture.jpg";
    FILE* out = std::fopen(file.c_str(), "wb");
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, out);
    info.image_width = 17;
    info.image_height = 9;
    info.input_components = components;
    info.in_color_space = space;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 100, TRUE);
    jpeg_start_compress(&info, TRUE);
    std::vector<std::uint8_t> row(static_cast<std::size_t>(17 * components), value);
    while (info.next_scanline < info.image_height) {
        JSAMPROW at = row.data();
        jpeg_write_scanlines(&info, &at, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::fclose(out);
    return file;
}

TEST(Picture, OfEachKindOfPngBecomesRgb) {
    const test_support::TempFolder folder;
    const Picture rgb = load_picture(write_png(folder, PNG_FORMAT_RGB, 2, 1, {1, 2, 3, 250, 0, 9}));
    EXPECT_EQ(rgb.width, 2);
    EXPECT_EQ(rgb.height, 1);
    EXPECT_EQ(rgb.rgb, (std::vector<std::uint8_t>{1, 2, 3, 250, 0, 9}));
    const Picture grey = load_picture(write_png(folder, PNG_FORMAT_GRAY, 1, 2, {7, 200}));
    EXPECT_EQ(grey.rgb, (std::vector<std::uint8_t>{7, 7, 7, 200, 200, 200}));
    const Picture clear = load_picture(write_png(folder, PNG_FORMAT_RGBA, 1, 1, {10, 20, 30, 0}));
    EXPECT_EQ(clear.rgb, (std::vector<std::uint8_t>{255, 255, 255})) << "transparent is white";
    const Picture wide = load_picture(write_png(folder, PNG_FORMAT_LINEAR_Y, 1, 1, {65535}));
    EXPECT_EQ(wide.rgb, (std::vector<std::uint8_t>{255, 255, 255}));
}

TEST(Picture, OfAJpegIsItsPixels) {
    const test_support::TempFolder folder;
    for (const auto& [components, space] : {std::pair(3, JCS_RGB), std::pair(1, JCS_GRAYSCALE)}) {
        const Picture picture = load_picture(write_jpeg(folder, components, space, 120));
        EXPECT_EQ(picture.width, 17);
        EXPECT_EQ(picture.height, 9);
        ASSERT_EQ(picture.rgb.size(), 17U * 9 * 3);
        for (const std::uint8_t value : picture.rgb) EXPECT_NEAR(value, 120, 1);
    }
}

TEST(Picture, ThatIsDamagedOrNoneIsRefused) {
    const test_support::TempFolder folder;
    EXPECT_THROW(load_picture(folder / "none.png"), Error);
    EXPECT_THROW(load_picture(folder.path()), Error);
    const auto file = folder / "text.png";
    std::ofstream(file) << "no picture";
    EXPECT_THROW(load_picture(file), Error);
    const auto png = write_png(folder, PNG_FORMAT_RGB, 2, 1, {1, 2, 3, 250, 0, 9});
    for (const std::uintmax_t size : {8U, 20U, 40U}) {
        std::filesystem::copy_file(png, file, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(file, size);
        EXPECT_THROW(load_picture(file), Error) << size;
    }
    const auto jpeg = write_jpeg(folder, 3, JCS_RGB, 5);
    std::filesystem::resize_file(jpeg, 30);
    EXPECT_THROW(load_picture(jpeg), Error);
    EXPECT_THROW(load_picture(write_jpeg(folder, 4, JCS_CMYK, 5)), Error) << "CMYK";
}

TEST(Picture, ThatClaimsMorePixelsThanAreReadIsRefusedBeforeTheyAreAllocated) {
    const test_support::TempFolder folder;
    const auto file = write_png(folder, PNG_FORMAT_RGB, 2, 1, {1, 2, 3, 250, 0, 9});
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(16);  // width and height in IHDR
    bytes.write("\x7F\xFF\xFF\xFF\x7F\xFF\xFF\xFF", 8);
    bytes.close();
    EXPECT_THROW(load_picture(file), Error);
}

/// Numbers of Pillow (tests/peer/picture_golden.py). It rounds its weights to 2^-22 and both passes
/// to 8 bits, as we do the passes: a difference of one unit where a sum lies between two.
TEST(Picture, IsResizedAsByPillow) {
    std::ifstream file(HALFTONE_GOLDEN_DIR "/picture_resize.json");
    const json golden = json::parse(file);
    Picture picture{golden.at("width").get<int>(), golden.at("height").get<int>(),
                    golden.at("rgb").get<std::vector<std::uint8_t>>()};
    for (const json& wanted : golden.at("resized")) {
        const Picture out = resized(picture, wanted.at("width"), wanted.at("height"));
        const auto expected = wanted.at("rgb").get<std::vector<std::uint8_t>>();
        ASSERT_EQ(out.rgb.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_NEAR(out.rgb[i], expected[i], 1) << out.width << " x " << out.height;
    }
}

TEST(Picture, OfItsOwnSizeIsLeftAsItIs) {
    const Picture picture{2, 1, {1, 2, 3, 4, 5, 6}};
    EXPECT_EQ(resized(picture, 2, 1).rgb, picture.rgb);
}

TEST(Picture, IsFittedByItsMiddle) {
    // Three columns of which the middle one stays.
    const Picture wide{3, 1, {0, 0, 0, 90, 80, 70, 255, 255, 255}};
    EXPECT_EQ(fitted(wide, 1, 1).rgb, (std::vector<std::uint8_t>{90, 80, 70}));
    const Picture out = fitted(Picture{40, 20, std::vector<std::uint8_t>(2400, 33)}, 28, 28);
    EXPECT_EQ(out.width, 28);
    EXPECT_EQ(out.height, 28);
    EXPECT_EQ(out.rgb, std::vector<std::uint8_t>(28 * 28 * 3, 33));
}

}  // namespace
}  // namespace engine
