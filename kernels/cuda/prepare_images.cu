#include "kernels/prepare_images.h"

#include "cuda/convert.cuh"
#include "shared/image_crop.h"

namespace kernels::cuda {
namespace {

/// One row of the result, for a warp, each pixel of `pitch` values. `from` is the row of the image,
/// null outside of it.
template <typename T>
__device__ void prepare_row(T* y, const std::uint8_t* from, const ImageStore& store,
                            const Crop& crop, bool normalize, std::uint32_t pitch) {
    const std::int64_t values = store.width * pitch;
    for (std::int64_t v = threadIdx.x % warp_size; v < values; v += warp_size) {
        const std::int64_t w = static_cast<std::uint32_t>(v) / pitch;
        const std::int64_t c = static_cast<std::uint32_t>(v) % pitch;
        if (c >= store.channels) {
            y[v] = narrow<T>(0.0f);
            continue;
        }
        const std::int64_t col = crop.column(w, store.width);
        float value = 0;
        if (from != nullptr && col >= 0 && col < store.width)
            value = static_cast<float>(from[col * store.channels + c]) / 255;
        y[v] = narrow<T>(normalize ? (value - store.mean[c]) / store.deviation[c] : value);
    }
}

/// A block an image, a warp a row.
template <typename T>
__global__ void prepare_images_kernel(T* y, std::int64_t* labels, const std::int64_t* indices,
                                      std::int64_t n, ImageStore store, ImagePreparation how) {
    const std::int64_t pitch = how.pitch == 0 ? store.channels : how.pitch;
    const std::int64_t row_values = store.width * pitch;
    const std::int64_t row_bytes = store.width * store.channels;
    for (std::int64_t i = blockIdx.x; i < n; i += gridDim.x) {
        const std::int64_t sample = indices == nullptr ? i : indices[i];
        if (threadIdx.x == 0 && store.labels != nullptr) labels[i] = store.labels[sample];
        const Crop crop = draw_crop(how, i);
        const std::uint8_t* image = store.pixels + sample * store.height * row_bytes;
        for (std::int64_t h = threadIdx.x / warp_size; h < store.height;
             h += blockDim.x / warp_size) {
            const std::int64_t row = h + crop.down;
            const bool inside = row >= 0 && row < store.height;
            prepare_row(y + (i * store.height + h) * row_values,
                        inside ? image + row * row_bytes : nullptr, store, crop, how.normalize,
                        static_cast<std::uint32_t>(pitch));
        }
    }
}

/// f(T{}) for the types of images.
template <typename F>
void with_image_type(DType dtype, const F& f) {
    switch (dtype) {
        case DType::f32:
            return f(float{});
        case DType::f16:
            return f(Half{});
        case DType::bf16:
            return f(BFloat16{});
        default:
            throw DeviceError("images are prepared in f32, f16 or bf16");
    }
}

}  // namespace

void prepare_images(Array y, Array labels, ConstArray indices, const ImageStore& store,
                    const ImagePreparation& how, Stream stream) {
    if (y.size == 0) return;
    const std::int64_t n = y.size / (store.height * store.width * store.channels);
    const Grid grid{std::min<std::int64_t>(n, multiprocessors() * 8), default_threads};
    with_image_type(y.dtype, [&]<typename T>(T) {
        launch("prepare_images", prepare_images_kernel<T>, grid, stream, static_cast<T*>(y.data),
               static_cast<std::int64_t*>(labels.data),
               static_cast<const std::int64_t*>(indices.data), n, store, how);
    });
}

}  // namespace kernels::cuda
