#include "train/step/image_preparer.h"

#include "data/image/image_transforms.h"
#include "kernels/device.h"
#include "tensor/padded_pixels.h"
#include "tensor/philox.h"

namespace engine {
namespace {

Tensor on_device(const std::vector<float>& values, const Device& device) {
    const Tensor out =
        Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::f32, device);
    out.copy_from_host(values.data());
    return out;
}

}  // namespace

bool ImagePreparer::can_make(const Schema& schema) {
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

ImagePreparer::ImagePreparer(const Device& device, const Schema& schema, std::int64_t seed)
    : device_(device), image_(schema.fields[0].shape), seed_(seed) {
    for (const auto& transform : schema.fields[0].transforms) {
        augment_ = augment_ || dynamic_cast<const CropAndFlip*>(transform.get()) != nullptr;
        normalize_ = normalize_ || dynamic_cast<const Normalize*>(transform.get()) != nullptr;
    }
    if (!normalize_) return;
    const UseScope use(MemoryUse::workspace);
    mean_ = on_device(schema.fields[0].normalization.mean, device);
    deviation_ = on_device(schema.fields[0].normalization.deviation, device);
}

void ImagePreparer::prepare(const Tensor& images, kernels::Array labels, const Source& from,
                            const Batch& place) const {
    const kernels::ImageStore store{from.pixels,
                                    from.labels,
                                    normalize_ ? mean_.data_as<float>() : nullptr,
                                    normalize_ ? deviation_.data_as<float>() : nullptr,
                                    image_[1],
                                    image_[2],
                                    image_[0]};
    const kernels::ImagePreparation how{
        augment_, normalize_,
        RandomStream(seed_, StreamId::augment, static_cast<std::uint32_t>(place.epoch)),
        static_cast<std::uint64_t>(place.position), pixel_pitch(images)};
    on(device_, kernels::cpu::prepare_images, kernels::cuda::prepare_images)(
        images.array(), labels, from.indices, store, how, current_stream());
}

}  // namespace engine
