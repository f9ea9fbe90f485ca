#include "engine/io/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cstdio>
// jpeglib.h requires FILE to be declared.
#include <jpeglib.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "io/picture/readers.h"
#include "support/golden_file.h"
#include "support/picture_files.h"
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

TEST(Picture, ThatIsTooSmallAFileForItsPixelsIsRefused) {
    const test_support::TempFolder folder;
    auto png = test::png_of(test::make_picture(20, 10));
    const std::array<std::uint8_t, 8> size{0, 0, 0x20, 0, 0, 0, 0x20, 0};  // 8192 x 8192
    std::copy(size.begin(), size.end(), png.begin() + 16);
    const auto sum = crc32(0, png.data() + 12, 17);
    for (std::size_t i = 0; i < 4; ++i)
        png[29 + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i));
    try {
        load_picture(folder.write("few.png", png));
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("too few bytes"));
    }
    // A picture of one colour compresses as well as any can.
    const Picture plain{3000, 3000, std::vector<std::uint8_t>(27'000'000, 7)};
    EXPECT_EQ(load_picture(folder.write("plain.png", test::png_of(plain))).rgb, plain.rgb);
}

json golden(const char* name) { return json::parse(test::golden_text(name)); }

Picture picture_of(const json& from) {
    return {from.at("width").get<int>(), from.at("height").get<int>(),
            from.at("rgb").get<std::vector<std::uint8_t>>()};
}

/// Values computed by Pillow and torchvision (tests/peer/picture_golden.py). Pillow 13 resizes
/// columns before rows if that takes less work (26 x 4 here); we never do. A sum between two values
/// may then be rounded the other way.
TEST(Picture, IsResizedAsByPillow) {
    const json numbers = golden("picture_resize.json");
    const Picture picture = picture_of(numbers);
    for (const json& wanted : numbers.at("resized")) {
        const Picture out = resized(picture, wanted.at("width"), wanted.at("height"));
        const Picture expected = picture_of(wanted);
        ASSERT_EQ(out.rgb.size(), expected.rgb.size());
        const int tolerance = out.height < 9 && out.width > 13 ? 1 : 0;
        for (std::size_t i = 0; i < expected.rgb.size(); ++i)
            EXPECT_NEAR(out.rgb[i], expected.rgb[i], tolerance) << out.width << " x " << out.height;
    }
}

TEST(Picture, HasTorchvisionsSquareInItsMiddle) {
    const json numbers = golden("picture_resize.json");
    const Picture picture = picture_of(numbers);
    for (const json& wanted : numbers.at("squares")) {
        const Picture whole = wanted.at("upright").get<bool>() ? upright(picture, 5) : picture;
        const Picture out = centre_square(whole, wanted.at("short"), wanted.at("size"));
        EXPECT_EQ(out.rgb, wanted.at("rgb").get<std::vector<std::uint8_t>>()) << wanted.at("short");
    }
}

TEST(Picture, IsResizedFromABoxAsWhenItIsCutOutFirst) {
    const Picture picture = picture_of(golden("picture_resize.json"));
    const PictureBox box{2, 1, 7, 6};
    const Picture cut = cropped(picture, box);
    EXPECT_EQ(cut.rgb[0], picture.rgb[(1 * 13 + 2) * 3]);
    EXPECT_EQ(resized(picture, box, 5, 9).rgb, resized(cut, 5, 9).rgb);
}

std::vector<std::uint8_t> decoded(const std::string& base64) {
    static const std::string letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::vector<std::uint8_t> out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char letter : base64.substr(0, base64.find('='))) {
        bits = bits << 6 | static_cast<std::uint32_t>(letters.find(letter));
        count += 6;
        if (count < 8) continue;
        count -= 8;
        out.push_back(static_cast<std::uint8_t>(bits >> count));
    }
    return out;
}

/// The pixels of Pillow's convert("RGB") after exif_transpose(). JPEG decoders may differ by one if
/// a sum is between two values.
TEST(Picture, OfEveryKindHasPillowsPixels) {
    const test_support::TempFolder folder;
    int files = 0;
    for (const json& wanted : golden("picture_kinds.json")) {
        const auto name = wanted.at("name").get<std::string>();
        SCOPED_TRACE(name);
        const auto file = folder.write(name, decoded(wanted.at("file").get<std::string>()));
        const Picture out = load_picture(file, Alpha::dropped);
        const Picture expected = picture_of(wanted);
        ASSERT_EQ(out.width, expected.width);
        ASSERT_EQ(out.height, expected.height);
        const int tolerance = name.ends_with(".jpg") ? 1 : 0;
        for (std::size_t i = 0; i < expected.rgb.size(); ++i)
            ASSERT_NEAR(out.rgb[i], expected.rgb[i], tolerance) << i;
        ++files;
    }
    EXPECT_GE(files, 24);
}

TEST(Picture, CutShortIsRefusedHoweverLittleIsMissing) {
    const test_support::TempFolder folder;
    const auto whole = test::jpeg_of(test::make_picture(60, 40));
    const auto size = whole.size();
    for (const std::size_t missing : {std::size_t{1}, std::size_t{2}, std::size_t{60}, size / 2}) {
        EXPECT_THROW(load_picture(folder.write("a.jpg", std::span(whole).first(size - missing))),
                     Error)
            << missing;
    }
    const auto png = test::png_of(test::make_picture(60, 40));
    EXPECT_THROW(load_picture(folder.write("a.png", std::span(png).first(png.size() - 4))), Error);
}

TEST(Picture, WithMoreScansThanAnybodyWritesIsRefused) {
    const test_support::TempFolder folder;
    // The scan of a progressive picture, repeated: every repetition is complete and valid.
    const auto whole = decoded([] {
        for (const json& each : golden("picture_kinds.json"))
            if (each.at("name") == "progressive.jpg") return each.at("file").get<std::string>();
        return std::string();
    }());
    const std::array<std::uint8_t, 2> scan{0xFF, 0xDA};
    const auto first = std::search(whole.begin(), whole.end(), scan.begin(), scan.end());
    const auto second = std::search(first + 2, whole.end(), scan.begin(), scan.end());
    std::vector<std::uint8_t> bomb(whole.begin(), first);
    for (int i = 0; i < 300; ++i) bomb.insert(bomb.end(), first, second);
    bomb.insert(bomb.end(), {0xFF, 0xD9});
    try {
        load_picture(folder.write("bomb.jpg", bomb));
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("too many scans"));
    }
}

TEST(Picture, OfItsOwnSizeIsLeftAsItIs) {
    const Picture picture{2, 1, {1, 2, 3, 4, 5, 6}};
    EXPECT_EQ(resized(picture, 2, 1).rgb, picture.rgb);
}

TEST(Picture, IsFittedByItsMiddle) {
    // Three columns, of which the middle one remains.
    const Picture wide{3, 1, {0, 0, 0, 90, 80, 70, 255, 255, 255}};
    EXPECT_EQ(fitted(wide, 1, 1).rgb, (std::vector<std::uint8_t>{90, 80, 70}));
    const Picture out = fitted(Picture{40, 20, std::vector<std::uint8_t>(2400, 33)}, 28, 28);
    EXPECT_EQ(out.width, 28);
    EXPECT_EQ(out.height, 28);
    EXPECT_EQ(out.rgb, std::vector<std::uint8_t>(28 * 28 * 3, 33));
}

/// A decoder of one colour that counts its calls.
struct Decoder {
    mutable int calls = 0;
    bool refuses = false;
    PixelDecoder function() const {
        return [this](std::span<const std::uint8_t>) -> std::optional<Picture> {
            ++calls;
            if (refuses) return std::nullopt;
            return Picture{17, 9, std::vector<std::uint8_t>(17 * 9 * 3, 7)};
        };
    }
};

TEST(Picture, LeavesCommonJpegPixelsToAnotherDecoder) {
    const test_support::TempFolder folder;
    Decoder decoder;
    const auto load = [&](const std::filesystem::path& file) {
        return load_picture_by(decoder.function(), file, Alpha::dropped, {});
    };
    const auto colour = write_jpeg(folder, 3, JCS_RGB, 200);
    EXPECT_EQ(load(colour).rgb.front(), 7);
    EXPECT_EQ(decoder.calls, 1);
    decoder.refuses = true;
    EXPECT_EQ(load(colour).rgb, load_picture(colour, Alpha::dropped).rgb);
    EXPECT_EQ(decoder.calls, 2);
    const auto grey = write_jpeg(folder, 1, JCS_GRAYSCALE, 200);
    EXPECT_EQ(load(grey).rgb, load_picture(grey, Alpha::dropped).rgb);
    const auto inks = write_jpeg(folder, 4, JCS_CMYK, 200);
    EXPECT_EQ(load(inks).rgb, load_picture(inks, Alpha::dropped).rgb);
    EXPECT_EQ(decoder.calls, 2) << "of one and four components";
}

}  // namespace
}  // namespace engine
