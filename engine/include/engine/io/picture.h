#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// A picture in 8-bit RGB, rows from the top.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;  ///< height * width * 3
};

/// Treatment of transparency.
enum class Alpha {
    over_white,  ///< the picture lies on white paper
    dropped,     ///< the colours as stored, as PIL's convert("RGB") and so torchvision's loader
};

/// Reads a PNG or JPEG file, by its content, upright (EXIF orientation). Palettes, grey, CMYK and
/// 16 bits (of which the higher 8 are kept) become 8-bit RGB, without colour management, as by PIL.
/// Throws Error(data) for a file that is missing, damaged, cut short, of another kind, or larger
/// than 100 million pixels.
Picture load_picture(const std::filesystem::path& file, Alpha alpha = Alpha::over_white);

/// Reads a picture as above. `see` gets the bytes of the file before they are decoded.
Picture load_picture(const std::filesystem::path& file, Alpha alpha,
                     const std::function<void(std::span<const std::uint8_t>)>& see);

/// A rectangle of a picture.
struct PictureBox {
    int left = 0, top = 0, width = 0, height = 0;
};

/// The picture as a PNG file.
std::string png_bytes(const Picture& picture);
/// Writes a PNG file that a person named (engine/io/named_file.h). Throws Error(io).
void save_picture(const std::filesystem::path& file, const Picture& picture);

/// The picture at another size. Each pixel is a weighted mean of the pixels it covers, by a
/// bilinear filter as wide as the step between pixels: PIL's resize with BILINEAR, with its
/// fixed-point weights. Rounded to 8 bits after the rows and again after the columns.
Picture resized(const Picture& picture, int width, int height);

/// The pixels in the box, which lies within the picture.
Picture cropped(const Picture& picture, const PictureBox& box);

/// resized(cropped(picture, box), width, height) in one pass.
Picture resized(const Picture& picture, const PictureBox& box, int width, int height);

/// The picture's middle at this size: scaled until it covers the whole of it, then cropped.
Picture fitted(const Picture& picture, int width, int height);

/// Scales the picture until its shorter side is `short_side`, then takes the centre square of
/// `size`: torchvision's Resize(short_side) and CenterCrop(size). size <= short_side.
Picture centre_square(const Picture& picture, int short_side, int size);

}  // namespace engine
