#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Masks as runs of equal pixels, in COCO's order: columns from left to right, each from top to
// bottom. Sizes are below 2^31 pixels.
namespace engine {

/// A mask of a picture. The counts are lengths of runs: zeros first, then ones, in turn. Their sum
/// is height * width. Only the first one may be 0 in what this program makes; files may hold
/// others.
struct RunLength {
    std::int32_t height = 0;
    std::int32_t width = 0;
    std::vector<std::uint32_t> counts{};

    std::int64_t pixels() const { return std::int64_t{height} * width; }
    bool operator==(const RunLength&) const = default;
};

/// Builds a mask from stretches of ones.
class RunWriter {
public:
    RunWriter(std::int32_t height, std::int32_t width) : mask_{height, width, {}} {}
    /// Ones at the places [begin, end), x * height + y; not before the end of the last call's.
    void add(std::int64_t begin, std::int64_t end);
    RunLength finish();

private:
    RunLength mask_;
    std::int64_t end_ = 0;  ///< of the counts
};

/// The mask of a bitmap, height rows of width bytes: ones where a byte is not 0.
RunLength encode_bitmap(std::span<const std::uint8_t> rows, std::int32_t height,
                        std::int32_t width);
/// The masks of a picture of numbers, height rows of width, with the mask of each number but 0 that
/// it has.
struct NumberedMask {
    RunLength mask{};
    std::int32_t left = 0, top = 0, right = 0, bottom = 0;  ///< extent; ends behind the last pixel
};
std::map<std::uint16_t, NumberedMask> numbered_masks(std::span<const std::uint16_t> rows,
                                                     std::int32_t height, std::int32_t width);
/// The bitmap of a mask, height rows of width bytes, 0 or 1.
std::vector<std::uint8_t> decode_bitmap(const RunLength& mask);

/// COCO's compressed text of the counts.
std::string run_length_text(const RunLength& mask);
/// The mask of a compressed text; nothing if the text is malformed or its sum is not the size's.
std::optional<RunLength> read_run_length(std::string_view text, std::int32_t height,
                                         std::int32_t width);

/// Pixels that are in any of the masks, which have one size; there is at least one.
RunLength unite(std::span<const RunLength> masks);
RunLength intersect(const RunLength& a, const RunLength& b);

/// Number of ones.
std::int64_t mask_area(const RunLength& mask);
/// Pixels that both have.
std::int64_t common_area(const RunLength& a, const RunLength& b);
/// The extent of the ones: x, y, width, height; zeros for an empty mask. As in pycocotools, a run
/// that goes on in the next column has the whole height.
std::array<double, 4> mask_box(const RunLength& mask);

/// Whether a box (x, y, width, height) is finite and has an area within a picture.
bool lies_in_picture(const std::array<double, 4>& box, std::int32_t height, std::int32_t width);
/// Intersection over union of two boxes (x, y, width, height). Of a `crowd` the divisor is the
/// area of `detected` alone. 0 for boxes that do not overlap.
double box_overlap(const std::array<double, 4>& detected, const std::array<double, 4>& truth,
                   bool crowd);
/// Intersection over union of two masks of one size, likewise.
double mask_overlap(const RunLength& detected, const RunLength& truth, bool crowd);

}  // namespace engine
