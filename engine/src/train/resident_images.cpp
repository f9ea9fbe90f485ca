#include "train/resident_images.h"

#include <cstring>

#include "core/philox.h"
#include "data/image_transforms.h"
#include "kernels/cuda_device.h"

namespace engine {
namespace {

template <typename T>
Tensor on_device(const std::vector<T>& values, DType dtype, const Device& device) {
    const Tensor out = Tensor::empty({static_cast<std::int64_t>(values.size())}, dtype, device);
    out.copy_from_host(values.data());
    return out;
}

}  // namespace

bool ResidentImages::can_make(const Schema& schema) {
    if (schema.fields.size() != 2 || schema.fields[0].kind != FieldKind::image ||
        schema.fields[1].kind != FieldKind::label || !schema.fields[1].transforms.empty())
        return false;
    bool normalized = false;
    for (const auto& transform : schema.fields[0].transforms) {
        const bool crop = dynamic_cast<const CropAndFlip*>(transform.get()) != nullptr;
        const bool norm = dynamic_cast<const Normalize*>(transform.get()) != nullptr;
        if (normalized || (!crop && !norm)) return false;
        normalized = norm;
    }
    return true;
}

ResidentImages::ResidentImages(const Device& device,
                               const std::shared_ptr<const ImageDataset>& images,
                               const Schema& schema, const LoaderOptions& options,
                               const FeedDepth& depth)
    : device_(device), schema_(schema), seed_(options.sampler.seed), pinned_(depth.per_step) {
    for (const auto& transform : schema.fields[0].transforms) {
        augment_ = augment_ || dynamic_cast<const CropAndFlip*>(transform.get()) != nullptr;
        normalize_ = normalize_ || dynamic_cast<const Normalize*>(transform.get()) != nullptr;
    }
    const UseScope use(MemoryUse::workspace);
    const Normalization& normalization = schema.fields[0].normalization;
    pixels_ = on_device(images->images().pixels, DType::u8, device);
    labels_ = on_device(images->images().labels, DType::u8, device);
    mean_ = on_device(normalization.mean, DType::f32, device);
    deviation_ = on_device(normalization.deviation, DType::f32, device);
}

kernels::ImagePreparation ResidentImages::preparation(const Batch& batch) const {
    return {augment_, normalize_,
            RandomStream(seed_, StreamId::augment, static_cast<std::uint32_t>(batch.epoch)),
            static_cast<std::uint64_t>(batch.position)};
}

DeviceBatch ResidentImages::upload(const Batch& batch) {
    const std::int64_t rows = batch.rows();
    const auto bytes = static_cast<std::size_t>(rows) * sizeof(std::int64_t);
    std::byte* pinned = pinned_.next(bytes);
    std::memcpy(pinned, batch.indices.data(), bytes);
    const Tensor indices = Tensor::empty({rows}, DType::i64, device_);
    kernels::cuda::copy_to_device(indices.data(), pinned, bytes, current_stream());
    pinned_.given(current_stream());
    const DeviceBatch out = empty_batch(device_, schema_, rows);
    const Shape& image = schema_.fields[0].shape;
    const kernels::ImageStore store{pixels_.data_as<std::uint8_t>(),
                                    labels_.data_as<std::uint8_t>(),
                                    mean_.data_as<float>(),
                                    deviation_.data_as<float>(),
                                    image[1],
                                    image[2],
                                    image[0]};
    on(device_, kernels::cpu::prepare_images, kernels::cuda::prepare_images)(
        out[0].array(), out[1].array(), indices.array(), store, preparation(batch),
        current_stream());
    return out;
}

}  // namespace engine
