#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/detection/detection_truth.h"
#include "data/schema.h"
#include "engine/io/picture.h"

namespace engine {

/// Fields of the samples of detection data, in their order.
namespace detection_field {
inline constexpr std::size_t image = 0;  ///< normalised, at the left top of the canvas; then 0
inline constexpr std::size_t size = 1;   ///< i64 (4): height and width in the canvas, of the file
inline constexpr std::size_t boxes = 2;  ///< in pixels of the canvas, with boxes.mask behind it
inline constexpr std::size_t labels = 4;
inline constexpr std::size_t places = 5;  ///< i64 (G, 5): left, top, width, height, first word
/// i64 (W): rows of 64-bit words, lowest bit first; of cardinality 1 if no object has a mask
inline constexpr std::size_t bits = 6;
}  // namespace detection_field

/// How pictures become samples.
struct DetectionForm {
    std::vector<std::int64_t> short_sides{800};  ///< training draws one; else the last
    std::int64_t long_side = 1333;
    bool flips = false;        ///< training mirrors half of the pictures
    double color_jitter = 0;   ///< as dataset.color_jitter
    bool by_batch = true;      ///< the canvas is that of the batch; else that of the schema
    bool by_shape = false;     ///< a batch for training holds pictures of one aspect_group()
};

/// The group of pictures of much the same shape, 0 to 7: how many of the ratios 2^-1, 2^-2/3,
/// 2^-1/3, 1, ..., 2 the height over the width reaches.
std::uint8_t aspect_group(const CanvasSize& picture);

/// Size of a picture that is resized as torchvision's detectors do: the shorter side becomes
/// `short_side`, unless the longer one would pass `long_side`; both rounded down.
CanvasSize resized_size(const CanvasSize& picture, std::int64_t short_side,
                        std::int64_t long_side);
/// Both sides rounded up to a multiple of 32.
CanvasSize padded_size(const CanvasSize& size);
/// Lines of `from` that nearest-neighbour resizing takes for each of `to` lines.
std::vector<std::int64_t> nearest_lines(std::int64_t from, std::int64_t to);
/// The picture at another size in [0, 1], H, W, C: bilinear without antialiasing, in f32, as
/// PyTorch's interpolate(align_corners=False).
std::vector<float> resized_plain(const Picture& picture, const CanvasSize& size);

/// The most that a sample of these pictures can need.
struct DetectionCapacity {
    std::int64_t objects = 0;  ///< that train
    std::int64_t words = 0;    ///< of their masks

    /// The larger ones of both.
    void widen(const DetectionCapacity& other);
};
/// The capacity that one picture needs at this size.
DetectionCapacity capacity_of(const DetectionTruth& truth, const CanvasSize& resized);

/// The schema of samples with these classes; label k is classes[k - 1], and 0 stands behind a
/// sample's objects.
Schema detection_schema(std::vector<std::string> classes, const CanvasSize& canvas,
                        const DetectionCapacity& capacity, bool by_batch);

/// A picture's place in a run: what is drawn for it.
struct DetectionDraw {
    bool flipped = false;
    std::int64_t short_side = 0;
};
/// Without a place: as in evaluation.
DetectionDraw draw_detection(const DetectionForm& form, const SamplePlace* place);

/// Writes all fields but the image. The objects that train are those that are neither crowds nor
/// difficult, whose box has an area after clipping and resizing, and whose mask, if they have one,
/// has a pixel left. `size`: that in the canvas.
void write_objects(const SampleFields& out, const DetectionTruth& truth, const CanvasSize& size,
                   bool flipped);
/// Fills the fields of a sample of this schema but the image with as many objects as fit: boxes all
/// over the canvas, with discs as masks.
void write_typical_objects(const SampleFields& out, const Schema& schema);
/// Writes the image. `canvas`: of the schema, where the batch has none of its own.
void write_pixels(const SampleFields& out, Picture picture, const CanvasSize& size,
                  const CanvasSize& canvas, const DetectionForm& form, const DetectionDraw& draw,
                  const SamplePlace* place);

}  // namespace engine
