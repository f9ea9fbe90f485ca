#pragma once

#include <cstdint>
#include <vector>

#include "data/schema.h"
#include "engine/io/picture.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Random crop after padding by 4 zeros on each side, then a horizontal flip of half of the images.
/// The sample at position p of epoch e takes the four words of block p of RandomStream(seed,
/// StreamId::augment, e): vertical shift, horizontal shift, flip, and one unused.
class CropAndFlip final : public SampleTransform {
public:
    static constexpr std::int64_t padding = 4;

    /// `shape`: (C, H, W) of the images.
    explicit CropAndFlip(const Shape& shape)
        : channels_(shape[0]), height_(shape[1]), width_(shape[2]) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    std::int64_t channels_, height_, width_;
};

/// (value - mean) / deviation, by channel of an image or by feature.
class Normalize final : public SampleTransform {
public:
    /// `width`: pixels in a row of the image; 1 for features.
    Normalize(const Normalization& normalization, std::int64_t width);
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    std::vector<float> mean_row_;  // a row of pixels (W * C) of means and of deviations
    std::vector<float> deviation_row_;
};

/// Multiplies brightness, contrast and saturation of an RGB image in [0, 1] by factors drawn evenly
/// from [1 - strength, 1 + strength], in a random order, and clips after each: torchvision's
/// ColorJitter(strength, strength, strength). The sample at position p of epoch e takes the four
/// words of block p of RandomStream(seed, StreamId::color_jitter, e): the three factors and the
/// order.
class ColorJitter final : public SampleTransform {
public:
    explicit ColorJitter(double strength) : strength_(strength) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    double strength_;
};

/// The three changes, of pixels in the order H, W, C.
void change_brightness(std::span<float> image, float factor);
void change_contrast(std::span<float> image, float factor);
void change_saturation(std::span<float> image, float factor);

/// Zeros in a square whose centre is any pixel of the image (DeVries and Taylor 2017). It comes
/// after the normalisation, so that the square is of the mean colour. The sample at position p of
/// epoch e takes block p of RandomStream(seed, StreamId::cutout, e): row, column and two unused.
class Cutout final : public SampleTransform {
public:
    /// `shape`: (C, H, W) of the images. `side` of the square; of an even one the centre is the
    /// pixel right below its middle.
    Cutout(const Shape& shape, std::int64_t side)
        : channels_(shape[0]), height_(shape[1]), width_(shape[2]), side_(side) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    std::int64_t channels_, height_, width_, side_;
};

/// The box that torchvision's RandomResizedCrop takes: 8 to 100 % of the area, sides in the ratio
/// 3:4 to 4:3; where ten draws do not fit into the picture, the largest box in its middle. The
/// sample at position p of epoch e takes blocks 16p to 16p + 9 of RandomStream(seed,
/// StreamId::picture_crop, e), one a draw: area, ratio, top, left.
PictureBox random_box(int width, int height, const SamplePlace& place);

/// Whether the sample is mirrored: by the word that CropAndFlip takes for it.
bool is_flipped(const SamplePlace& place);

/// Left and right exchanged.
void mirror(Picture& picture);

/// Random changes of training images that any image set can have.
struct ImageChanges {
    std::int64_t cutout = 0;  ///< side of the square, pixels; 0: off
    double color_jitter = 0;  ///< 0: off
};

/// `dataset.cutout`.
OptionSpec cutout_option();
/// `dataset.color_jitter`, of sets in colour.
OptionSpec color_jitter_option();
/// Options of a data set with this number of channels.
std::vector<OptionSpec> image_options(std::int64_t channels);

/// The changes that the settings ask for; those that the kind of data set does not have are off.
ImageChanges image_changes(const DatasetConfig& config);

}  // namespace engine
