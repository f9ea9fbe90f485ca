#include <cstdio>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include <csetjmp>

#include "engine/error.h"
#include "picture/readers.h"

namespace engine {
namespace {

/// The library leaves by a jump: it knows no exceptions.
struct JumpingErrors {
    jpeg_error_mgr manager{};
    std::jmp_buf back{};
    char message[JMSG_LENGTH_MAX] = {};
};

void jump_back(j_common_ptr info) {
    auto* errors = reinterpret_cast<JumpingErrors*>(info->err);
    info->err->format_message(info, errors->message);
    std::longjmp(errors->back, 1);
}

void say_nothing(j_common_ptr, int) {}

/// Nothing with a destructor may be made in here: the library may jump out of it.
bool decode(jpeg_decompress_struct& info, JumpingErrors& errors,
            std::span<const std::uint8_t> bytes, Picture& out, bool& too_large) {
    if (setjmp(errors.back) != 0) return false;
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, const_cast<std::uint8_t*>(bytes.data()),
                 static_cast<unsigned long>(bytes.size()));
    jpeg_read_header(&info, TRUE);
    too_large = std::int64_t{info.image_width} * info.image_height > most_pixels;
    if (too_large) return false;
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    out.width = static_cast<int>(info.output_width);
    out.height = static_cast<int>(info.output_height);
    out.rgb.resize(std::size_t{info.output_width} * info.output_height * 3);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = out.rgb.data() + std::size_t{info.output_scanline} * info.output_width * 3;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return true;
}

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

Picture read_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
    jpeg_decompress_struct info{};
    JumpingErrors errors;
    info.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = jump_back;
    errors.manager.emit_message = say_nothing;
    Picture out;
    bool too_large = false;
    const bool decoded = decode(info, errors, bytes, out, too_large);
    const std::int64_t width = info.image_width, height = info.image_height;
    jpeg_destroy_decompress(&info);
    if (too_large) check_picture_size(width, height, name);
    if (!decoded) {
        throw Error(ErrorCode::data, msg("{}: a damaged JPEG picture, or one that is not RGB or "
                                         "grey: {}",
                                         name, std::string(errors.message)));
    }
    return out;
}

}  // namespace engine
