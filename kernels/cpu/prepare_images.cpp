#include "kernels/prepare_images.h"

#include <cassert>

#include "cpu/grain.h"
#include "kernels/parallel.h"
#include "kernels/small_float.h"
#include "shared/image_crop.h"

namespace kernels::cpu {
namespace {

void store_value(float* y, float value) { *y = value; }
void store_value(Half* y, float value) { *y = to_half(value); }
void store_value(BFloat16* y, float value) { *y = to_bfloat16(value); }

template <class T>
void prepare_image(T* y, const std::uint8_t* image, const ImageStore& store, const Crop& crop,
                   bool normalize, std::int64_t pitch) {
    for (std::int64_t h = 0; h < store.height; ++h) {
        for (std::int64_t w = 0; w < store.width; ++w) {
            const std::int64_t row = h + crop.down;
            const std::int64_t col = crop.column(w, store.width);
            const bool inside = row >= 0 && row < store.height && col >= 0 && col < store.width;
            const std::uint8_t* pixel =
                inside ? image + (row * store.width + col) * store.channels : nullptr;
            for (std::int64_t c = 0; c < store.channels; ++c, ++y) {
                const float value = pixel != nullptr ? static_cast<float>(pixel[c]) / 255 : 0.0f;
                store_value(y, normalize ? (value - store.mean[c]) / store.deviation[c] : value);
            }
            for (std::int64_t c = store.channels; c < pitch; ++c, ++y) store_value(y, 0.0f);
        }
    }
}

template <class T>
void prepare(T* y, std::int64_t n, Array labels, ConstArray indices, const ImageStore& store,
             const ImagePreparation& how) {
    const std::int64_t pitch = how.pitch == 0 ? store.channels : how.pitch;
    const std::int64_t pixels = store.height * store.width;
    const auto* index = static_cast<const std::int64_t*>(indices.data);
    parallel_for(n, row_grain(pixels * pitch), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t sample = index != nullptr ? index[i] : i;
            if (store.labels != nullptr)
                static_cast<std::int64_t*>(labels.data)[i] = store.labels[sample];
            prepare_image(y + i * pixels * pitch, store.pixels + sample * pixels * store.channels,
                          store, draw_crop(how, i), how.normalize, pitch);
        }
    });
}

}  // namespace

void prepare_images(Array y, Array labels, ConstArray indices, const ImageStore& store,
                    const ImagePreparation& how, Stream) {
    if (y.size == 0) return;
    assert(store.labels == nullptr || labels.dtype == DType::i64);
    const std::int64_t n = y.size / (store.height * store.width * store.channels);
    switch (y.dtype) {
        case DType::f32:
            return prepare(static_cast<float*>(y.data), n, labels, indices, store, how);
        case DType::f16:
            return prepare(static_cast<Half*>(y.data), n, labels, indices, store, how);
        case DType::bf16:
            return prepare(static_cast<BFloat16*>(y.data), n, labels, indices, store, how);
        default:
            assert(false);
    }
}

}  // namespace kernels::cpu
