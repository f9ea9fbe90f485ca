#include "engine/io/picture.h"

#include <fstream>
#include <iterator>

#include "engine/base/error.h"
#include "io/picture/readers.h"

namespace engine {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;

std::vector<std::uint8_t> bytes_of(const std::filesystem::path& file) {
    std::error_code error;
    const auto refuse = [&] {
        throw Error(ErrorCode::data, msg("{}: the file cannot be read", file.string()));
    };
    // Opening a FIFO would wait for its writer.
    if (!std::filesystem::is_regular_file(file, error)) refuse();
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    std::ifstream stream(file, std::ios::binary);
    if (error || !stream) refuse();
    if (size > most_bytes)
        throw Error(ErrorCode::data, msg("{}: too large for a picture", file.string()));
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (static_cast<std::uintmax_t>(stream.gcount()) != size) refuse();
    return bytes;
}

}  // namespace

void check_picture_size(std::int64_t width, std::int64_t height, const std::string& name) {
    if (width > 0 && height > 0 && width * height <= most_pixels) return;
    throw Error(ErrorCode::data, msg("{}: {} x {} pixels are more than are read ({} million)", name,
                                     width, height, most_pixels / 1'000'000));
}

Picture read_picture(std::span<const std::uint8_t> bytes, const std::string& name, Alpha alpha) {
    if (is_png(bytes)) return read_png(bytes, name, alpha);
    if (is_jpeg(bytes)) return read_jpeg(bytes, name);
    throw Error(ErrorCode::data, msg("{}: neither a PNG nor a JPEG picture", name));
}

Picture load_picture(const std::filesystem::path& file, Alpha alpha) {
    return read_picture(bytes_of(file), file.string(), alpha);
}

Picture load_picture(const std::filesystem::path& file, Alpha alpha,
                     const std::function<void(std::span<const std::uint8_t>)>& see) {
    return load_picture_by({}, file, alpha, see);
}

Picture load_picture_by(const PixelDecoder& decoder, const std::filesystem::path& file, Alpha alpha,
                        const std::function<void(std::span<const std::uint8_t>)>& see) {
    const std::vector<std::uint8_t> bytes = bytes_of(file);
    if (see) see(bytes);
    return decoder ? read_picture_by(decoder, bytes, file.string(), alpha)
                   : read_picture(bytes, file.string(), alpha);
}

}  // namespace engine
