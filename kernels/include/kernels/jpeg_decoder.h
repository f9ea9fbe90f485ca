#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda_libraries.h"

namespace kernels {

/// A picture in 8-bit RGB, rows from the top.
struct DecodedJpeg {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;  ///< height * width * 3
};

/// JPEG pictures decoded on an NVIDIA device by nvJPEG of the CUDA toolkit, which is opened at run
/// time. It rounds otherwise than libjpeg does.
namespace cuda {

/// nvJPEG, as it was found. Opens it if need be. Never throws DeviceError.
LibraryInfo jpeg_library();

/// Decodes a picture of three components of 8 bits, Y, Cb and Cr, on the calling thread's device.
/// Waits for it, on a stream of the thread's own. Nothing if the library refuses the picture, or
/// finds no memory for it. Thread-safe. Throws DeviceError, also if the library is missing.
std::optional<DecodedJpeg> decode_jpeg(std::span<const std::uint8_t> bytes);

}  // namespace cuda

}  // namespace kernels
