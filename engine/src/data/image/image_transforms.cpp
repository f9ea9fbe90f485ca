#include "data/image/image_transforms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "data/dataset_descriptor.h"
#include "tensor/philox.h"

namespace engine {
namespace {

std::vector<float> repeat(const std::vector<float>& channels, std::int64_t times) {
    std::vector<float> row;
    for (std::int64_t i = 0; i < times; ++i)
        row.insert(row.end(), channels.begin(), channels.end());
    return row;
}

/// Copies `pixels` pixels of `channels` floats each, last pixel first.
void copy_reversed(float* out, const float* in, std::int64_t pixels, std::int64_t channels) {
    for (std::int64_t x = 0; x < pixels; ++x) {
        const float* pixel = in + (pixels - 1 - x) * channels;
        for (std::int64_t c = 0; c < channels; ++c) out[x * channels + c] = pixel[c];
    }
}

/// Luma of ITU-R BT.601, with torchvision's weights.
float to_grey(const float* pixel) {
    return 0.2989F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
}

float blended(float value, float other, float factor) {
    return std::clamp(factor * value + (1 - factor) * other, 0.0F, 1.0F);
}

using Change = void (*)(std::span<float>, float);

/// All orders of three.
constexpr std::array<std::array<std::size_t, 3>, 6> orders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

constexpr double min_area = 0.08, max_area = 1;
constexpr double min_ratio = 3.0 / 4, max_ratio = 4.0 / 3;
constexpr std::uint64_t blocks_a_sample = 16, draws = 10;

/// Evenly from [low, high).
double between(std::uint32_t word, double low, double high) {
    return low + word * 0x1p-32 * (high - low);
}

/// Whole, with halves to the even number, as by Python's round().
int whole(double value) { return static_cast<int>(std::nearbyint(value)); }

PictureBox middle_box(int width, int height) {
    const double ratio = static_cast<double>(width) / height;
    PictureBox box{0, 0, width, height};
    if (ratio < min_ratio) box.height = std::min(whole(width / min_ratio), height);
    if (ratio > max_ratio) box.width = std::min(whole(height * max_ratio), width);
    box.left = (width - box.width) / 2;
    box.top = (height - box.height) / 2;
    return box;
}

}  // namespace

void CropAndFlip::apply(const SampleFields& sample, std::size_t field,
                        const SamplePlace& place) const {
    const RandomStream random(place.seed, StreamId::augment,
                              static_cast<std::uint32_t>(place.epoch));
    const PhiloxBlock words = random.block(place.position);
    const std::int64_t down = RandomStream::to_bounded(words[0], 2 * padding + 1) - padding;
    const std::int64_t right = RandomStream::to_bounded(words[1], 2 * padding + 1) - padding;
    const bool flip = (words[2] & 1) != 0;

    // Row y, pixel x of the crop is pixel (y + down, x + right) of the image, 0 outside of it.
    const std::span<float> image = sample.f32(field);
    static thread_local std::vector<float> source;
    source.assign(image.begin(), image.end());
    std::fill(image.begin(), image.end(), 0.0F);
    const std::int64_t row = width_ * channels_;
    const std::int64_t first = std::max<std::int64_t>(0, -right);
    const std::int64_t kept = std::max<std::int64_t>(0, width_ - std::abs(right));
    for (std::int64_t y = std::max<std::int64_t>(0, -down); y < std::min(height_, height_ - down);
         ++y) {
        const float* from = source.data() + (y + down) * row + (first + right) * channels_;
        float* to = image.data() + y * row;
        if (flip) {
            copy_reversed(to + (width_ - first - kept) * channels_, from, kept, channels_);
        } else {
            std::copy(from, from + kept * channels_, to + first * channels_);
        }
    }
}

Normalize::Normalize(const Normalization& normalization, std::int64_t width)
    : mean_row_(repeat(normalization.mean, width)),
      deviation_row_(repeat(normalization.deviation, width)) {}

void Normalize::apply(const SampleFields& sample, std::size_t field, const SamplePlace&) const {
    const std::size_t row = mean_row_.size();
    const float* mean = mean_row_.data();
    const float* deviation = deviation_row_.data();
    const std::span<float> all = sample.f32(field);
    for (std::size_t start = 0; start < all.size(); start += row) {
        float* values = all.data() + start;
        for (std::size_t i = 0; i < row; ++i) values[i] = (values[i] - mean[i]) / deviation[i];
    }
}

void change_brightness(std::span<float> image, float factor) {
    for (float& value : image) value = blended(value, 0, factor);
}

void change_contrast(std::span<float> image, float factor) {
    double sum = 0;
    for (std::size_t at = 0; at < image.size(); at += 3)
        sum += static_cast<double>(to_grey(&image[at]));
    const auto mean = static_cast<float>(sum / static_cast<double>(image.size() / 3));
    for (float& value : image) value = blended(value, mean, factor);
}

void change_saturation(std::span<float> image, float factor) {
    for (std::size_t at = 0; at < image.size(); at += 3) {
        const float grey = to_grey(&image[at]);
        for (std::size_t c = 0; c < 3; ++c) image[at + c] = blended(image[at + c], grey, factor);
    }
}

void ColorJitter::apply(const SampleFields& sample, std::size_t field,
                        const SamplePlace& place) const {
    constexpr std::array<Change, 3> changes{change_brightness, change_contrast, change_saturation};
    const RandomStream random(place.seed, StreamId::color_jitter,
                              static_cast<std::uint32_t>(place.epoch));
    const PhiloxBlock words = random.block(place.position);
    for (const std::size_t which : orders[RandomStream::to_bounded(words[3], orders.size())]) {
        const double even = words[which] * 0x1p-32;
        const double factor = std::max(1 - strength_, 0.0) + even * 2 * strength_;
        changes[which](sample.f32(field), static_cast<float>(factor));
    }
}

void Cutout::apply(const SampleFields& sample, std::size_t field, const SamplePlace& place) const {
    const RandomStream random(place.seed, StreamId::cutout,
                              static_cast<std::uint32_t>(place.epoch));
    const PhiloxBlock words = random.block(place.position);
    const auto start = [&](std::uint32_t word, std::int64_t length) -> std::int64_t {
        return RandomStream::to_bounded(word, static_cast<std::uint32_t>(length)) - side_ / 2;
    };
    const std::int64_t top = start(words[0], height_), left = start(words[1], width_);
    const std::int64_t first = std::max<std::int64_t>(left, 0);
    const std::int64_t end = std::min(left + side_, width_);
    float* image = sample.f32(field).data();
    for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + side_, height_); ++y) {
        float* row = image + y * width_ * channels_;
        std::fill(row + first * channels_, row + end * channels_, 0.0F);
    }
}

PictureBox random_box(int width, int height, const SamplePlace& place) {
    const RandomStream random(place.seed, StreamId::picture_crop,
                              static_cast<std::uint32_t>(place.epoch));
    const double pixels = static_cast<double>(width) * height;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
        const PhiloxBlock words = random.block(place.position * blocks_a_sample + draw);
        const double area = pixels * between(words[0], min_area, max_area);
        const double ratio = std::exp(between(words[1], std::log(min_ratio), std::log(max_ratio)));
        const int w = whole(std::sqrt(area * ratio)), h = whole(std::sqrt(area / ratio));
        if (w <= 0 || w > width || h <= 0 || h > height) continue;
        const auto place_in = [](std::uint32_t word, int room) {
            return static_cast<int>(
                RandomStream::to_bounded(word, static_cast<std::uint32_t>(room) + 1));
        };
        return {place_in(words[3], width - w), place_in(words[2], height - h), w, h};
    }
    return middle_box(width, height);
}

bool is_flipped(const SamplePlace& place) {
    const RandomStream random(place.seed, StreamId::augment,
                              static_cast<std::uint32_t>(place.epoch));
    return (random.block(place.position)[2] & 1) != 0;
}

void mirror(Picture& picture) {
    const auto row = static_cast<std::size_t>(picture.width) * 3;
    for (std::size_t first = 0; first < picture.rgb.size(); first += row) {
        std::uint8_t* left = &picture.rgb[first];
        std::uint8_t* right = left + row - 3;
        for (; left < right; left += 3, right -= 3) std::swap_ranges(left, left + 3, right);
    }
}

OptionSpec cutout_option() {
    return option("cutout", "Cutout", std::int64_t{0},
                  "Side of a square that is blanked at a random place of each training image; it "
                  "may reach over the edge. 0: off.",
                  opt::unit("pixels"), opt::between(0, 4096));
}

OptionSpec color_jitter_option() {
    return option("color_jitter", "Color jitter", 0.0,
                  "Brightness, contrast and saturation of each training image are multiplied by "
                  "random factors between 1 - this value and 1 + this value. 0: off.",
                  opt::between(0, 1));
}

std::vector<OptionSpec> image_options(std::int64_t channels) {
    std::vector<OptionSpec> options{cutout_option()};
    if (channels == 3) options.push_back(color_jitter_option());
    return options;
}

ImageChanges image_changes(const DatasetConfig& config) {
    const auto& specs = dataset_descriptor(config.kind).options;
    const TypedOptions options(config.options, specs);
    ImageChanges changes;
    if (find_option(specs, "cutout") != nullptr) changes.cutout = options.integer("cutout");
    if (find_option(specs, "color_jitter") != nullptr)
        changes.color_jitter = options.number("color_jitter");
    return changes;
}

}  // namespace engine
