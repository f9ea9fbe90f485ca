#include <png.h>

#include <algorithm>
#include <iterator>

#include "engine/error.h"
#include "picture/readers.h"

namespace engine {

bool is_png(std::span<const std::uint8_t> bytes) {
    constexpr std::uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    return bytes.size() >= std::size(signature) &&
           std::equal(std::begin(signature), std::end(signature), bytes.begin());
}

Picture read_png(std::span<const std::uint8_t> bytes, const std::string& name) {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    const auto refuse = [&] {
        const std::string why = image.message;
        png_image_free(&image);
        throw Error(ErrorCode::data, msg("{}: a damaged PNG picture: {}", name, why));
    };
    if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) refuse();
    try {
        check_picture_size(image.width, image.height, name);
    } catch (...) {
        png_image_free(&image);
        throw;
    }
    image.format = PNG_FORMAT_RGB;
    Picture out{static_cast<int>(image.width), static_cast<int>(image.height), {}};
    out.rgb.resize(PNG_IMAGE_SIZE(image));
    const png_color white{255, 255, 255};
    if (png_image_finish_read(&image, &white, out.rgb.data(), 0, nullptr) == 0) refuse();
    return out;
}

}  // namespace engine
