#include "io/picture/readers.h"

#include <algorithm>
#include <cstddef>

namespace engine {
namespace {

/// Numbers at offsets of TIFF data in their byte order; 0 beyond the end.
class Tiff {
public:
    explicit Tiff(std::span<const std::uint8_t> bytes)
        : bytes_(bytes), little_(bytes.size() > 1 && bytes[0] == 'I' && bytes[1] == 'I') {}

    bool valid() const {
        const bool big = bytes_.size() > 1 && bytes_[0] == 'M' && bytes_[1] == 'M';
        return (little_ || big) && u16(2) == 42;
    }
    std::uint32_t u16(std::size_t at) const {
        if (at > bytes_.size() || bytes_.size() - at < 2) return 0;
        const std::uint32_t first = bytes_[at], second = bytes_[at + 1];
        return little_ ? second << 8 | first : first << 8 | second;
    }
    std::uint32_t u32(std::size_t at) const {
        const std::uint32_t first = u16(at), second = u16(at + 2);
        return little_ ? second << 16 | first : first << 16 | second;
    }

private:
    std::span<const std::uint8_t> bytes_;
    bool little_;
};

/// Sides exchanged: pixel (y, x) of the result is pixel (x, y) of the picture.
Picture transposed(const Picture& picture) {
    Picture out{picture.height, picture.width, std::vector<std::uint8_t>(picture.rgb.size())};
    const auto width = static_cast<std::size_t>(picture.width);
    const auto height = static_cast<std::size_t>(picture.height);
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x)
            std::copy_n(&picture.rgb[(y * width + x) * 3], 3, &out.rgb[(x * height + y) * 3]);
    }
    return out;
}

void mirror(Picture& picture) {
    const auto width = static_cast<std::size_t>(picture.width);
    for (std::size_t row = 0; row + width * 3 <= picture.rgb.size(); row += width * 3) {
        for (std::size_t x = 0; x < width / 2; ++x)
            std::swap_ranges(&picture.rgb[row + x * 3], &picture.rgb[row + x * 3] + 3,
                             &picture.rgb[row + (width - 1 - x) * 3]);
    }
}

void turn_over(Picture& picture) {
    const auto row = static_cast<std::ptrdiff_t>(picture.width) * 3;
    auto top = picture.rgb.begin();
    auto bottom = picture.rgb.end() - row;
    for (; top < bottom; top += row, bottom -= row) std::swap_ranges(top, top + row, bottom);
}

}  // namespace

int exif_orientation(std::span<const std::uint8_t> bytes) {
    constexpr std::uint32_t orientation_tag = 0x0112, short_type = 3;
    constexpr std::size_t entry_bytes = 12;
    const Tiff tiff(bytes);
    if (!tiff.valid()) return 1;
    const std::size_t directory = tiff.u32(4);
    for (std::size_t i = 0; i < tiff.u16(directory); ++i) {
        const std::size_t entry = directory + 2 + i * entry_bytes;
        if (tiff.u16(entry) != orientation_tag) continue;
        const std::uint32_t value = tiff.u16(entry + 8);
        const bool valid = tiff.u16(entry + 2) == short_type && value >= 1 && value <= 8;
        return valid ? static_cast<int>(value) : 1;
    }
    return 1;
}

Picture upright(Picture picture, int orientation) {
    if (picture.rgb.empty()) return picture;
    // 5 to 8 are 1 to 4 with their sides exchanged, of which 6 and 8 change places.
    if (orientation >= 5) picture = transposed(picture);
    const bool mirrored =
        orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
    const bool over = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
    if (mirrored) mirror(picture);
    if (over) turn_over(picture);
    return picture;
}

}  // namespace engine
