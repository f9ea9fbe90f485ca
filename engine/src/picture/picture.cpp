#include "engine/picture.h"

#include <fstream>
#include <iterator>

#include "engine/error.h"
#include "picture/readers.h"

namespace engine {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& file) {
    std::error_code error;
    const bool regular = std::filesystem::is_regular_file(file, error);
    const std::uintmax_t size = regular ? std::filesystem::file_size(file, error) : 0;
    std::ifstream stream(file, std::ios::binary);
    if (!regular || error || !stream)
        throw Error(ErrorCode::data, msg("{}: the file cannot be read", file.string()));
    if (size > most_bytes)
        throw Error(ErrorCode::data, msg("{}: too large for a picture", file.string()));
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (static_cast<std::uintmax_t>(stream.gcount()) != size)
        throw Error(ErrorCode::data, msg("{}: the file cannot be read", file.string()));
    return bytes;
}

}  // namespace

void check_picture_size(std::int64_t width, std::int64_t height, const std::string& name) {
    if (width > 0 && height > 0 && width * height <= most_pixels) return;
    throw Error(ErrorCode::data, msg("{}: {} x {} pixels are more than are read ({} million)", name,
                                     width, height, most_pixels / 1'000'000));
}

Picture load_picture(const std::filesystem::path& file) {
    const std::vector<std::uint8_t> bytes = bytes_of(file);
    if (is_png(bytes)) return read_png(bytes, file.string());
    if (is_jpeg(bytes)) return read_jpeg(bytes, file.string());
    throw Error(ErrorCode::data, msg("{}: neither a PNG nor a JPEG picture", file.string()));
}

}  // namespace engine
