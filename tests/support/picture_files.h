#pragma once

#include <png.h>

#include <cstdio>
// jpeglib.h requires FILE to be declared.
#include <jpeglib.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "engine/io/picture.h"

namespace engine::test {

/// A picture whose pixels are a function of `seed`. It is smooth, so that JPEG changes it little.
inline Picture make_picture(int width, int height, int seed = 0) {
    Picture picture{width, height, {}};
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            picture.rgb.push_back(static_cast<std::uint8_t>((3 * x + 40 * seed) % 256));
            picture.rgb.push_back(static_cast<std::uint8_t>((4 * y + 90 * seed) % 256));
            picture.rgb.push_back(static_cast<std::uint8_t>((x + y + 7 * seed) % 256));
        }
    }
    return picture;
}

inline std::vector<std::uint8_t> png_of(const Picture& picture) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.width);
    image.height = static_cast<png_uint_32>(picture.height);
    image.format = PNG_FORMAT_RGB;
    png_alloc_size_t size = 0;
    if (!png_image_write_get_memory_size(image, size, 0, picture.rgb.data(), 0, nullptr))
        throw std::runtime_error("png");
    std::vector<std::uint8_t> out(size);
    if (png_image_write_to_memory(&image, out.data(), &size, 0, picture.rgb.data(), 0, nullptr) ==
        0)
        throw std::runtime_error("png");
    out.resize(size);
    return out;
}

inline std::vector<std::uint8_t> jpeg_of(const Picture& picture) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &memory, &size);
    info.image_width = static_cast<JDIMENSION>(picture.width);
    info.image_height = static_cast<JDIMENSION>(picture.height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 95, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        auto* row = const_cast<std::uint8_t*>(picture.rgb.data()) +
                    std::size_t{info.next_scanline} * info.image_width * 3;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::vector<std::uint8_t> out(memory, memory + size);
    std::free(memory);
    return out;
}

}  // namespace engine::test
