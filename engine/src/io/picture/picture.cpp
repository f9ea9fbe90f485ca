#include "engine/io/picture.h"

// jpeglib.h needs FILE.
#include <jpeglib.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "engine/base/error.h"
#include "io/picture/readers.h"

namespace engine {
namespace {

constexpr std::uintmax_t max_bytes = std::uintmax_t{512} << 20;

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
    if (size > max_bytes)
        throw Error(ErrorCode::data, msg("{}: too large for a picture", file.string()));
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size));
    stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (static_cast<std::uintmax_t>(stream.gcount()) != size) refuse();
    return bytes;
}

namespace fs = std::filesystem;

std::int64_t big_endian(std::span<const std::uint8_t> bytes) {
    std::int64_t value = 0;
    for (const std::uint8_t byte : bytes) value = value << 8 | byte;
    return value;
}

/// Goes through the chunks, of which the one of EXIF may stand at the end.
PictureHeader png_header(const std::vector<std::uint8_t>& bytes, const std::string& name) {
    const std::span<const std::uint8_t> all(bytes);
    constexpr std::size_t signature = 8, frame = 12;
    if (all.size() < 33 || !std::equal(all.begin() + 12, all.begin() + 16, "IHDR"))
        throw Error(ErrorCode::data, msg("{}: a damaged PNG picture: {}", name, "no header"));
    const std::int64_t width = big_endian(all.subspan(16, 4));
    const std::int64_t height = big_endian(all.subspan(20, 4));
    check_picture_size(width, height, name);
    PictureHeader out{static_cast<int>(width), static_cast<int>(height)};
    for (std::size_t at = signature; at + frame <= all.size();) {
        const auto length = static_cast<std::size_t>(big_endian(all.subspan(at, 4)));
        if (length > all.size() - at - frame) break;
        if (std::equal(all.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                       all.begin() + static_cast<std::ptrdiff_t>(at) + 8, "eXIf"))
            out.orientation = exif_orientation(all.subspan(at + 8, length));
        at += length + frame;
    }
    return out;
}

bool fits(std::int64_t width, std::int64_t height) {
    return width > 0 && height > 0 && width * height <= max_pixels;
}

/// A header of 8 bits whose size is read (the decoder decides on others), and the empty chunk IEND
/// at the very end.
bool is_whole_png(std::span<const std::uint8_t> head, std::span<const std::uint8_t> tail) {
    constexpr std::array<std::uint8_t, 12> end{0,   0,   0,    0,    'I',  'E',
                                               'N', 'D', 0xAE, 0x42, 0x60, 0x82};
    constexpr std::array<std::uint8_t, 8> header{0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    if (head.size() < 33 || tail.size() < end.size()) return false;
    if (!std::equal(header.begin(), header.end(), head.begin() + 8)) return false;
    constexpr std::size_t header_at = 12, header_bytes = 17;  // that the checksum is of
    const auto sum = crc32(0, head.data() + header_at, header_bytes);
    if (big_endian(head.subspan(header_at + header_bytes, 4)) != static_cast<std::int64_t>(sum))
        return false;
    const int depth = head[24], colour = head[25];
    const bool usual = depth == 8 && (colour == 0 || colour == 2 || colour == 3 || colour == 6);
    if (!usual || head[26] != 0 || head[27] != 0 || head[28] > 1) return false;
    if (big_endian(head.subspan(16, 4)) > max_pixels) return false;
    return fits(big_endian(head.subspan(16, 4)), big_endian(head.subspan(20, 4))) &&
           std::equal(end.begin(), end.end(), tail.end() - end.size());
}

/// Whether all chunks behind the signature are there with their checksums, up to the end. Reads the
/// whole file: the checksums are the only cheap way to see damage in the middle.
bool has_sound_chunks(std::ifstream& stream) {
    constexpr std::size_t signature_bytes = 8, piece = std::size_t{64} << 10;
    std::vector<std::uint8_t> buffer(piece);
    const auto read = [&](std::size_t count) {
        return static_cast<bool>(stream.read(reinterpret_cast<char*>(buffer.data()),
                                             static_cast<std::streamsize>(count)));
    };
    stream.clear();
    stream.seekg(signature_bytes);
    while (read(8)) {
        auto left = static_cast<std::size_t>(big_endian(std::span(buffer).first(4)));
        const bool is_end = std::equal(buffer.begin() + 4, buffer.begin() + 8, "IEND");
        auto sum = crc32(0, buffer.data() + 4, 4);
        while (left > 0) {
            const std::size_t count = std::min(left, piece);
            if (!read(count)) return false;
            sum = crc32(sum, buffer.data(), static_cast<unsigned>(count));
            left -= count;
        }
        if (!read(4) || big_endian(std::span(buffer).first(4)) != static_cast<std::int64_t>(sum))
            return false;
        if (is_end) return true;
    }
    return false;
}

/// Segments up to the frame header, whose size is read, and the end marker at the very end. False
/// if the header lies beyond the part of the file that was read.
bool is_whole_jpeg(std::span<const std::uint8_t> head, std::span<const std::uint8_t> tail) {
    if (tail.size() < 2 || tail[tail.size() - 2] != 0xFF || tail[tail.size() - 1] != JPEG_EOI)
        return false;
    std::size_t at = 2;
    while (at + 9 < head.size() && head[at] == 0xFF) {
        const int marker = head[at + 1];
        // Baseline, extended and progressive Huffman frames; the decoder decides on all others.
        if (marker >= 0xC0 && marker <= 0xC2) {
            const std::int64_t components = head[at + 9];
            return head[at + 4] == 8 &&
                   fits(big_endian(head.subspan(at + 7, 2)), big_endian(head.subspan(at + 5, 2))) &&
                   (components == 1 || components == 3 || components == 4);
        }
        at += 2 + static_cast<std::size_t>(big_endian(head.subspan(at + 2, 2)));
    }
    return false;
}

}  // namespace

void check_picture_size(std::int64_t width, std::int64_t height, const std::string& name) {
    if (width > 0 && height > 0 && width * height <= max_pixels) return;
    throw Error(ErrorCode::data, msg("{}: {} x {} pixels are more than are read ({} million)", name,
                                     width, height, max_pixels / 1'000'000));
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

NumberPicture load_number_png(const std::filesystem::path& file) {
    const std::vector<std::uint8_t> bytes = bytes_of(file);
    if (!is_png(bytes)) throw Error(ErrorCode::data, msg("{}: no PNG picture", file.string()));
    return read_number_png(bytes, file.string());
}

PictureHeader read_picture_header(const std::filesystem::path& file) {
    constexpr std::size_t head_bytes = std::size_t{64} << 10;
    std::error_code error;
    std::vector<std::uint8_t> head(head_bytes);
    if (fs::is_regular_file(file, error)) {
        std::ifstream stream(file, std::ios::binary);
        stream.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(head_bytes));
        head.resize(static_cast<std::size_t>(stream.gcount()));
    } else {
        head.clear();
    }
    const bool whole = head.size() < head_bytes;
    if (is_png(head)) return png_header(whole ? std::move(head) : bytes_of(file), file.string());
    if (!is_jpeg(head)) head = bytes_of(file);  // which says what is wrong
    if (!is_jpeg(head)) (void)read_picture(head, file.string(), Alpha::dropped);
    if (whole) return read_jpeg_header(head, file.string());
    try {
        return read_jpeg_header(head, file.string());
    } catch (const Error&) {  // a header of more bytes
        return read_jpeg_header(bytes_of(file), file.string());
    }
}

bool has_whole_picture(const fs::path& file) {
    constexpr std::size_t head_bytes = std::size_t{64} << 10, tail_bytes = 12;
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return false;
    std::ifstream stream(file, std::ios::binary);
    std::vector<std::uint8_t> head(head_bytes), tail(tail_bytes);
    stream.read(reinterpret_cast<char*>(head.data()), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(stream.gcount()));
    stream.clear();
    stream.seekg(-static_cast<std::streamoff>(tail_bytes), std::ios::end);
    if (!stream.read(reinterpret_cast<char*>(tail.data()),
                     static_cast<std::streamsize>(tail.size())))
        return false;
    if (is_png(head)) return is_whole_png(head, tail) && has_sound_chunks(stream);
    return is_jpeg(head) && is_whole_jpeg(head, tail);
}

}  // namespace engine
