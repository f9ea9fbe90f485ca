#include <cstdio>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <string_view>

#include "engine/base/error.h"
#include "io/picture/readers.h"

namespace engine {
namespace {

constexpr int exif_marker = JPEG_APP0 + 1;
/// Each scan of a progressive picture goes over all of it, so a small file with many of them would
/// take hours. Encoders write about ten.
constexpr int max_scans = 200;

/// The library is C and reports errors by a jump, not by an exception.
struct JpegFile {
    jpeg_error_mgr manager{};
    jpeg_progress_mgr progress{};
    std::jmp_buf back{};
    char message[JMSG_LENGTH_MAX] = {};
    bool too_large = false;
    bool header_only = false;
    int orientation = 1;
    Picture out{};
    std::vector<std::uint8_t> cmyk{};  ///< a row
};

void jump_back(j_common_ptr info) {
    auto* file = reinterpret_cast<JpegFile*>(info->err);
    info->err->format_message(info, file->message);
    std::longjmp(file->back, 1);
}

void say_nothing(j_common_ptr, int) {}

[[noreturn]] void leave(JpegFile& file, const char* why) {
    std::snprintf(file.message, sizeof file.message, "%s", why);
    std::longjmp(file.back, 1);
}

void count_scans(j_common_ptr info) {
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > max_scans)
        leave(*reinterpret_cast<JpegFile*>(info->err), "too many scans");
}

/// The library would go on with grey pixels.
boolean no_more_bytes(j_decompress_ptr info) {
    leave(*reinterpret_cast<JpegFile*>(info->err), "the file ends too early");
}

void read_orientation(const jpeg_decompress_struct& info, JpegFile& file) {
    constexpr std::string_view header("Exif\0\0", 6);
    for (auto* marker = info.marker_list; marker != nullptr; marker = marker->next) {
        const std::span bytes(marker->data, marker->data_length);
        if (marker->marker != exif_marker || bytes.size() < header.size()) continue;
        if (!std::equal(header.begin(), header.end(), bytes.begin())) continue;
        file.orientation = exif_orientation(bytes.subspan(header.size()));
        return;
    }
}

/// (255 - a) * b / 255, rounded, as PIL does it.
std::uint8_t inked(int ink, int black) {
    const int product = (255 - ink) * black + 128;
    return static_cast<std::uint8_t>(black - (((product >> 8) + product) >> 8));
}

/// Adobe's files, which are practically all CMYK files, store inverted inks: 255 is no ink.
void rgb_of_cmyk(const std::vector<std::uint8_t>& cmyk, std::uint8_t* rgb) {
    for (std::size_t at = 0; at < cmyk.size(); at += 4) {
        for (std::size_t c = 0; c < 3; ++c) *rgb++ = inked(cmyk[at + c], cmyk[at + 3]);
    }
}

void make_room(const jpeg_decompress_struct& info, JpegFile& file) {
    file.out.width = static_cast<int>(info.output_width);
    file.out.height = static_cast<int>(info.output_height);
    file.out.rgb.resize(std::size_t{info.output_width} * info.output_height * 3);
    if (info.out_color_space == JCS_CMYK) file.cmyk.resize(std::size_t{info.output_width} * 4);
}

/// False: larger than any picture that is read.
bool read_header(jpeg_decompress_struct& info, JpegFile& file,
                 std::span<const std::uint8_t> bytes) {
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, const_cast<std::uint8_t*>(bytes.data()),
                 static_cast<unsigned long>(bytes.size()));
    info.src->fill_input_buffer = no_more_bytes;
    info.progress = &file.progress;
    file.progress.progress_monitor = count_scans;
    jpeg_save_markers(&info, exif_marker, 0xFFFF);
    jpeg_read_header(&info, TRUE);
    file.too_large = std::int64_t{info.image_width} * info.image_height > max_pixels;
    if (file.too_large) return false;
    read_orientation(info, file);
    return true;
}

/// Nothing with a destructor may be made in here: the library may jump out of it.
bool decode(jpeg_decompress_struct& info, JpegFile& file, std::span<const std::uint8_t> bytes) {
    if (setjmp(file.back) != 0) return false;
    if (!read_header(info, file, bytes)) return false;
    if (file.header_only) return true;
    const bool four = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
    info.out_color_space = four ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info);
    make_room(info, file);
    while (info.output_scanline < info.output_height) {
        std::uint8_t* rgb =
            file.out.rgb.data() + std::size_t{info.output_scanline} * info.output_width * 3;
        JSAMPROW row = four ? file.cmyk.data() : rgb;
        jpeg_read_scanlines(&info, &row, 1);
        if (four) rgb_of_cmyk(file.cmyk, rgb);
    }
    jpeg_finish_decompress(&info);
    return true;
}

}  // namespace

bool is_jpeg(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF;
}

namespace {

/// Reads the header, and the pixels unless file.header_only. `look` gets the header.
template <typename Look>
void read(std::span<const std::uint8_t> bytes, const std::string& name, JpegFile& file,
          const Look& look) {
    jpeg_decompress_struct info{};
    info.err = jpeg_std_error(&file.manager);
    file.manager.error_exit = jump_back;
    file.manager.emit_message = say_nothing;
    bool decoded = false;
    try {
        decoded = decode(info, file, bytes);
    } catch (...) {  // no memory
        jpeg_destroy_decompress(&info);
        throw;
    }
    const std::int64_t width = info.image_width, height = info.image_height;
    if (decoded) look(info);
    jpeg_destroy_decompress(&info);
    if (file.too_large) check_picture_size(width, height, name);
    if (!decoded) {
        throw Error(ErrorCode::data,
                    msg("{}: a damaged JPEG picture: {}", name, std::string(file.message)));
    }
}

}  // namespace

Picture read_jpeg(std::span<const std::uint8_t> bytes, const std::string& name) {
    JpegFile file;
    read(bytes, name, file, [](const jpeg_decompress_struct&) {});
    return upright(std::move(file.out), file.orientation);
}

PictureHeader read_jpeg_header(std::span<const std::uint8_t> bytes, const std::string& name) {
    JpegFile file;
    file.header_only = true;
    PictureHeader out;
    read(bytes, name, file, [&](const jpeg_decompress_struct& info) {
        out.width = static_cast<int>(info.image_width);
        out.height = static_cast<int>(info.image_height);
    });
    out.orientation = file.orientation;
    return out;
}

Picture read_picture_by(const PixelDecoder& decoder, std::span<const std::uint8_t> bytes,
                        const std::string& name, Alpha alpha) {
    if (!is_jpeg(bytes)) return read_picture(bytes, name, alpha);
    JpegFile file;
    file.header_only = true;
    bool is_common = false;
    read(bytes, name, file, [&](const jpeg_decompress_struct& info) {
        is_common = info.jpeg_color_space == JCS_YCbCr && info.data_precision == 8;
    });
    if (is_common)
        if (auto picture = decoder(bytes)) return upright(std::move(*picture), file.orientation);
    return read_jpeg(bytes, name);
}

}  // namespace engine
