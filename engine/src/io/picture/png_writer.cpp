#include <png.h>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "engine/io/picture.h"

namespace engine {

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
