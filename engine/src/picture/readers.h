#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/picture.h"

namespace engine {

/// Pixels of the largest picture that is read.
inline constexpr std::int64_t most_pixels = 100'000'000;

/// Whether the bytes begin as a file of this kind.
bool is_png(std::span<const std::uint8_t> bytes);
bool is_jpeg(std::span<const std::uint8_t> bytes);

/// Throw Error(data) naming the file.
Picture read_png(std::span<const std::uint8_t> bytes, const std::string& name);
Picture read_jpeg(std::span<const std::uint8_t> bytes, const std::string& name);

/// Throws Error(data) for a picture that is larger than most_pixels, or empty.
void check_picture_size(std::int64_t width, std::int64_t height, const std::string& name);

}  // namespace engine
