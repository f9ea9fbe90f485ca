#include <png.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "engine/io/picture.h"
#include "io/picture/readers.h"

namespace engine {
namespace {

/// Deflate packs at most 1032 bytes into one.
constexpr std::size_t max_growth = 1032;

/// The file and the decoded result. libpng reports errors by longjmp, not by exceptions.
struct PngFile {
    std::span<const std::uint8_t> bytes;  ///< not read yet
    std::size_t size = bytes.size();
    std::string why{};
    std::uint32_t width = 0, height = 0;
    bool too_large = false;
    int orientation = 1;
    std::vector<std::uint8_t> pixels{};
    std::vector<png_bytep> rows{};
    int channels = 3;
    bool colour = false;  ///< where numbers are wanted
};

void jump_back(png_structp png, png_const_charp why) {
    static_cast<PngFile*>(png_get_error_ptr(png))->why = why;
    png_longjmp(png, 1);
}

void say_nothing(png_structp, png_const_charp) {}

void take_bytes(png_structp png, png_bytep out, std::size_t count) {
    auto& bytes = static_cast<PngFile*>(png_get_io_ptr(png))->bytes;
    if (count > bytes.size()) png_error(png, "the file ends too early");
    std::memcpy(out, bytes.data(), count);
    bytes = bytes.subspan(count);
}

/// 8-bit RGB, or RGBA. Without the library's gamma correction, which PIL does not do either.
void ask_for_rgb(png_structp png, png_infop info, Alpha alpha) {
    png_set_strip_16(png);
    png_set_expand(png);
    png_set_gray_to_rgb(png);
    if (alpha == Alpha::dropped) png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

void read_orientation(png_structp png, png_infop info, PngFile& file) {
    png_uint_32 size = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png, info, &size, &exif) != 0)
        file.orientation = exif_orientation({exif, size});
}

void make_rows(png_structp png, png_infop info, PngFile& file) {
    file.channels = png_get_channels(png, info);
    const std::size_t row = png_get_rowbytes(png, info);
    file.pixels.resize(row * file.height);
    for (std::uint32_t y = 0; y < file.height; ++y)
        file.rows.push_back(file.pixels.data() + y * row);
}

/// The values as they are stored, a byte or two a pixel; false for a picture in colour.
bool ask_for_numbers(png_structp png, png_infop info, PngFile& file) {
    const int type = png_get_color_type(png, info);
    file.colour = type != PNG_COLOR_TYPE_GRAY && type != PNG_COLOR_TYPE_PALETTE;
    if (file.colour) return false;
    png_set_packing(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    return true;
}

/// Nothing with a destructor may be made in here: the library may jump out of it. Without `alpha`
/// the numbers are wanted.
bool decode(png_structp png, png_infop info, PngFile& file, std::optional<Alpha> alpha) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    // The limit below is ours, and so is its sentence.
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_read_fn(png, &file, take_bytes);
    png_read_info(png, info);
    file.width = png_get_image_width(png, info);
    file.height = png_get_image_height(png, info);
    file.too_large = std::int64_t{file.width} * file.height > max_pixels;
    if (file.too_large) return false;
    // Before memory is taken for pixels that cannot come.
    if (png_get_rowbytes(png, info) * file.height / max_growth > file.size)
        png_error(png, "too few bytes for so many pixels");
    if (alpha)
        ask_for_rgb(png, info, *alpha);
    else if (!ask_for_numbers(png, info, file))
        return false;
    make_rows(png, info, file);
    png_read_image(png, file.rows.data());
    png_read_end(png, info);
    read_orientation(png, info, file);
    return true;
}

Picture on_white(const PngFile& file) {
    Picture out{static_cast<int>(file.width), static_cast<int>(file.height), {}};
    out.rgb.reserve(file.pixels.size() / 4 * 3);
    for (std::size_t at = 0; at < file.pixels.size(); at += 4) {
        const int alpha = file.pixels[at + 3];
        for (std::size_t c = 0; c < 3; ++c)
            out.rgb.push_back(static_cast<std::uint8_t>(
                (file.pixels[at + c] * alpha + 255 * (255 - alpha) + 127) / 255));
    }
    return out;
}

}  // namespace

bool is_png(std::span<const std::uint8_t> bytes) {
    constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    return bytes.size() >= std::size(signature) &&
           std::equal(std::begin(signature), std::end(signature), bytes.begin());
}

namespace {

void read(PngFile& file, const std::string& name, std::optional<Alpha> alpha) {
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &file, jump_back, say_nothing);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    bool decoded = false;
    try {
        decoded = info != nullptr && decode(png, info, file, alpha);
    } catch (...) {  // no memory
        png_destroy_read_struct(&png, &info, nullptr);
        throw;
    }
    png_destroy_read_struct(&png, &info, nullptr);
    if (file.too_large) check_picture_size(file.width, file.height, name);
    if (file.colour)
        throw Error(ErrorCode::data,
                    msg("{}: a picture in colour; a mask is grey or has a palette", name));
    if (!decoded)
        throw Error(ErrorCode::data, msg("{}: a damaged PNG picture: {}", name, file.why));
}

}  // namespace

Picture read_png(std::span<const std::uint8_t> bytes, const std::string& name, Alpha alpha) {
    PngFile file{bytes};
    read(file, name, alpha);
    if (file.channels == 4) return upright(on_white(file), file.orientation);
    Picture out{static_cast<int>(file.width), static_cast<int>(file.height),
                std::move(file.pixels)};
    return upright(std::move(out), file.orientation);
}

NumberPicture read_number_png(std::span<const std::uint8_t> bytes, const std::string& name) {
    PngFile file{bytes};
    read(file, name, std::nullopt);
    NumberPicture out{static_cast<int>(file.width), static_cast<int>(file.height), {}};
    const std::size_t count = std::size_t{file.width} * file.height;
    const bool wide = file.pixels.size() == 2 * count;  // with the higher byte first
    for (std::size_t i = 0; i < count; ++i)
        out.values.push_back(static_cast<std::uint16_t>(
            wide ? file.pixels[2 * i] << 8 | file.pixels[2 * i + 1] : file.pixels[i]));
    return out;
}

std::string png_bytes(const Picture& picture) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.width);
    image.height = static_cast<png_uint_32>(picture.height);
    image.format = PNG_FORMAT_RGB;
    std::string out(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
    png_alloc_size_t size = out.size();
    if (png_image_write_to_memory(&image, out.data(), &size, 0, picture.rgb.data(), 0, nullptr) ==
        0)
        throw Error(ErrorCode::io, msg("A picture could not be compressed: {}", image.message));
    out.resize(size);
    return out;
}

void save_picture(const std::filesystem::path& file, const Picture& picture) {
    write_named_file(file, png_bytes(picture));
}

}  // namespace engine
