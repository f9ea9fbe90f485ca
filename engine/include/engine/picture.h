#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace engine {

/// A picture in 8-bit RGB, rows from the top.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<std::uint8_t> rgb;  ///< height * width * 3
};

/// Reads a PNG or JPEG file, by its content: palettes, grey, alpha (over white) and 16 bits become
/// 8-bit RGB. Throws Error(data) for a file that is missing, damaged, of another kind, or larger
/// than 100 million pixels.
Picture load_picture(const std::filesystem::path& file);

/// Writes a PNG file. Throws Error(io).
void save_picture(const std::filesystem::path& file, const Picture& picture);

/// The picture at another size. Each pixel is a mean of those that it covers, weighted as a
/// bilinear filter as wide as the step between pixels does (what PIL's resize does with BILINEAR).
Picture resized(const Picture& picture, int width, int height);

/// The picture's middle at this size: scaled until it covers the whole of it, then cropped.
Picture fitted(const Picture& picture, int width, int height);

}  // namespace engine
