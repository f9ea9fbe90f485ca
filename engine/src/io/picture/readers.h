#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/io/picture.h"

namespace engine {

/// Pixels of the largest picture that is read.
inline constexpr std::int64_t max_pixels = 100'000'000;

/// Whether the bytes begin as a file of this kind.
bool is_png(std::span<const std::uint8_t> bytes);
bool is_jpeg(std::span<const std::uint8_t> bytes);

/// The picture in these bytes, by their first ones. Throws Error(data) naming the file.
Picture read_picture(std::span<const std::uint8_t> bytes, const std::string& name, Alpha alpha);
Picture read_png(std::span<const std::uint8_t> bytes, const std::string& name, Alpha alpha);
Picture read_jpeg(std::span<const std::uint8_t> bytes, const std::string& name);

/// Decodes pixels otherwise; nothing where it cannot, and the picture is read as ever.
using PixelDecoder = std::function<std::optional<Picture>(std::span<const std::uint8_t> jpeg)>;
/// A JPEG of three components of 8 bits, luminance and two of colour, by `decoder`, upright; all
/// others by read_picture().
Picture read_picture_by(const PixelDecoder& decoder, std::span<const std::uint8_t> bytes,
                        const std::string& name, Alpha alpha);
/// load_picture(), with the pixels of JPEG files by `decoder`.
Picture load_picture_by(const PixelDecoder& decoder, const std::filesystem::path& file, Alpha alpha,
                        const std::function<void(std::span<const std::uint8_t>)>& see);

/// Whether the file begins with the header of a picture that is read, and ends where a picture
/// ends. The checksums of all chunks of a PNG are compared, too; a JPEG has none, so little of it
/// is read. False does not mean that it cannot be read: decode it.
bool has_whole_picture(const std::filesystem::path& file);

/// The size of a picture as its file stores it, and its EXIF orientation.
struct PictureHeader {
    int width = 0, height = 0;
    int orientation = 1;  ///< of 5 to 8 the picture that is seen has its sides exchanged
};
/// Reads no more than the header, but all of a PNG above 64 KiB, whose EXIF may stand at its end.
/// Throws Error(data) for a file that is missing, no picture or
/// larger than max_pixels.
PictureHeader read_picture_header(const std::filesystem::path& file);
PictureHeader read_jpeg_header(std::span<const std::uint8_t> bytes, const std::string& name);

/// A PNG of numbers, such as a mask: grey of up to 16 bits, or the indices of a palette.
struct NumberPicture {
    int width = 0, height = 0;
    std::vector<std::uint16_t> values{};  ///< height * width, rows from the top
};
/// Throws Error(data) for a file that is missing or damaged, and for one in colour.
NumberPicture load_number_png(const std::filesystem::path& file);
NumberPicture read_number_png(std::span<const std::uint8_t> bytes, const std::string& name);

/// Throws Error(data) for a picture that is larger than max_pixels, or empty.
void check_picture_size(std::int64_t width, std::int64_t height, const std::string& name);

/// The orientation (1 to 8) in the first directory of EXIF data, which begin with a TIFF header; 1
/// if they do not say, or are damaged.
int exif_orientation(std::span<const std::uint8_t> tiff);

/// The picture as it is to be seen: turned and mirrored as its EXIF orientation says.
Picture upright(Picture picture, int orientation);

}  // namespace engine
