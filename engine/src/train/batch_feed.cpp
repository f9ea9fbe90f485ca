#include "train/batch_feed.h"

#include "core/memory.h"
#include "data/image_dataset.h"
#include "train/resident_images.h"
#include "train/ring_feed.h"

namespace engine {
namespace {

class HostFeed final : public BatchFeed {
public:
    explicit HostFeed(const SampleShape& sample) : sample_(sample) {}

    DeviceBatch upload(const Batch& batch) override {
        const DeviceBatch out = empty_batch(Device{}, sample_, batch.size());
        out.inputs.copy_from_host(batch.pixels.data());
        out.labels.copy_from_host(batch.labels.data());
        return out;
    }

private:
    SampleShape sample_;
};

}  // namespace

DeviceBatch empty_batch(const Device& device, const SampleShape& sample, std::int64_t size) {
    const Tensor inputs = sample.is_image()
                              ? Tensor::empty({size, sample.channels, sample.height, sample.width},
                                              DType::f32, device, Layout::channels_last)
                              : Tensor::empty({size, sample.elements()}, DType::f32, device);
    return {inputs, Tensor::empty({size}, DType::i64, device), size};
}

std::unique_ptr<BatchFeed> make_ring_feed(const Device& device, const SampleShape& sample,
                                          std::int64_t per_step) {
    if (device.kind == Device::Kind::cpu) return std::make_unique<HostFeed>(sample);
    const DeviceScope scope(device);  // events belong to the device that they are made on
    return std::make_unique<RingFeed>(device, sample, per_step);
}

std::unique_ptr<BatchFeed> make_feed(const Device& device, std::shared_ptr<const Dataset> dataset,
                                     const LoaderOptions& options, std::int64_t per_step) {
    if (device.kind == Device::Kind::cpu) return make_ring_feed(device, dataset->shape(), per_step);
    if (const auto images = std::dynamic_pointer_cast<const ImageDataset>(dataset);
        images && images->images().pixels.size() <= memory_limit(device) / 8) {
        const DeviceScope scope(device);
        return std::make_unique<ResidentImages>(device, images, options, per_step);
    }
    return make_ring_feed(device, dataset->shape(), per_step);
}

}  // namespace engine
