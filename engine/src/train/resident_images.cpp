#include "train/resident_images.h"

#include <cstring>

#include "core/philox.h"
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

ResidentImages::ResidentImages(const Device& device,
                               const std::shared_ptr<const ImageDataset>& images,
                               const LoaderOptions& options, std::int64_t per_step)
    : device_(device), sample_(images->shape()), options_(options), pinned_(per_step) {
    const UseScope use(MemoryUse::workspace);
    pixels_ = on_device(images->images().pixels, DType::u8, device);
    labels_ = on_device(images->images().labels, DType::u8, device);
    mean_ = on_device(images->normalization().mean, DType::f32, device);
    deviation_ = on_device(images->normalization().deviation, DType::f32, device);
}

kernels::ImagePreparation ResidentImages::preparation(const Batch& batch) const {
    return {options_.augment, options_.normalize,
            RandomStream(options_.seed, StreamId::augment, static_cast<std::uint32_t>(batch.epoch)),
            static_cast<std::uint64_t>(batch.position)};
}

DeviceBatch ResidentImages::upload(const Batch& batch) {
    const std::int64_t size = batch.size();
    const auto bytes = static_cast<std::size_t>(size) * sizeof(std::int64_t);
    std::byte* pinned = pinned_.next(bytes);
    std::memcpy(pinned, batch.indices.data(), bytes);
    const Tensor indices = Tensor::empty({size}, DType::i64, device_);
    kernels::cuda::copy_to_device(indices.data(), pinned, bytes, current_stream());
    pinned_.given(current_stream());
    const DeviceBatch out = empty_batch(device_, sample_, size);
    const kernels::ImageStore store{pixels_.data_as<std::uint8_t>(),
                                    labels_.data_as<std::uint8_t>(),
                                    mean_.data_as<float>(),
                                    deviation_.data_as<float>(),
                                    sample_.height,
                                    sample_.width,
                                    sample_.channels};
    on(device_, kernels::cpu::prepare_images, kernels::cuda::prepare_images)(
        out.inputs.array(), out.labels.array(), indices.array(), store, preparation(batch),
        current_stream());
    return out;
}

}  // namespace engine
