#include "train/resident_images.h"

#include <algorithm>
#include <cstring>

#include "data/philox.h"
#include "train/step_marks.h"

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
                               const LoaderOptions& options)
    : device_(device), sample_(images->shape()), options_(options) {
    const UseScope use(MemoryUse::workspace);
    pixels_ = on_device(images->images().pixels, DType::u8, device);
    labels_ = on_device(images->images().labels, DType::u8, device);
    mean_ = on_device(images->normalization().mean, DType::f32, device);
    deviation_ = on_device(images->normalization().deviation, DType::f32, device);
}

ResidentImages::~ResidentImages() {
    try {
        for (const Slot& slot : slots_) wait_until_passed(slot.copied);
    } catch (...) {  // the device has failed, and copies nothing
    }
    for (const Slot& slot : slots_) kernels::cuda::release_pinned(slot.pinned);
}

kernels::ImagePreparation ResidentImages::preparation(const Batch& batch) const {
    return {options_.augment, options_.normalize,
            RandomStream(options_.seed, StreamId::augment, static_cast<std::uint32_t>(batch.epoch)),
            static_cast<std::uint64_t>(batch.position)};
}

DeviceBatch ResidentImages::upload(const Batch& batch) {
    Slot& slot = slots_[next_];
    next_ = (next_ + 1) % slots_.size();
    wait_until_passed(slot.copied);  // of three batches ago
    const std::int64_t size = batch.size();
    const auto bytes = static_cast<std::size_t>(size) * sizeof(std::int64_t);
    if (slot.size < size) {
        kernels::cuda::release_pinned(slot.pinned);
        slot.pinned = nullptr;
        slot.pinned = static_cast<std::int64_t*>(kernels::cuda::allocate_pinned(bytes));
        slot.size = size;
    }
    std::memcpy(slot.pinned, batch.indices.data(), bytes);
    const Tensor indices = Tensor::empty({size}, DType::i64, device_);
    kernels::cuda::copy_to_device(indices.data(), slot.pinned, bytes, current_stream());
    slot.copied.record(current_stream());
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
