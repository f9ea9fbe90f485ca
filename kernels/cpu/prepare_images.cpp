#include "kernels/prepare_images.h"

#include <cassert>

#include "cpu/grain.h"
#include "kernels/parallel.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t padding = 4;

/// Which pixel of the image a pixel of the crop shows.
struct Crop {
    std::int64_t down = 0, right = 0;
    bool flip = false;
};

Crop draw(const PhiloxStream& random, std::uint64_t block) {
    const PhiloxBlock words = random.block(block);
    return {std::int64_t{PhiloxStream::to_bounded(words[0], 2 * padding + 1)} - padding,
            std::int64_t{PhiloxStream::to_bounded(words[1], 2 * padding + 1)} - padding,
            (words[2] & 1) != 0};
}

void prepare_image(float* y, const std::uint8_t* image, const ImageStore& store, const Crop& crop,
                   bool normalize) {
    for (std::int64_t h = 0; h < store.height; ++h) {
        for (std::int64_t w = 0; w < store.width; ++w) {
            const std::int64_t row = h + crop.down;
            const std::int64_t col = (crop.flip ? store.width - 1 - w : w) + crop.right;
            const bool inside = row >= 0 && row < store.height && col >= 0 && col < store.width;
            const std::uint8_t* pixel =
                inside ? image + (row * store.width + col) * store.channels : nullptr;
            for (std::int64_t c = 0; c < store.channels; ++c, ++y) {
                const float value = pixel != nullptr ? static_cast<float>(pixel[c]) / 255 : 0.0f;
                *y = normalize ? (value - store.mean[c]) / store.deviation[c] : value;
            }
        }
    }
}

}  // namespace

void prepare_images(Array y, Array labels, ConstArray indices, const ImageStore& store,
                    const ImagePreparation& how, Stream) {
    assert(y.dtype == DType::f32 && labels.dtype == DType::i64 && indices.dtype == DType::i64);
    const std::int64_t elements = store.height * store.width * store.channels;
    parallel_for(indices.size, row_grain(elements), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t sample = static_cast<const std::int64_t*>(indices.data)[i];
            static_cast<std::int64_t*>(labels.data)[i] = store.labels[sample];
            const Crop crop =
                how.augment ? draw(how.random, how.first + static_cast<std::uint64_t>(i)) : Crop{};
            prepare_image(static_cast<float*>(y.data) + i * elements,
                          store.pixels + sample * elements, store, crop, how.normalize);
        }
    });
}

}  // namespace kernels::cpu
