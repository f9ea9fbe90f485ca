#include "train/step/resident_images.h"

#include <cstring>

#include "kernels/cuda_device.h"

namespace engine {
namespace {

Tensor on_device(const std::vector<std::uint8_t>& values, const Device& device) {
    const Tensor out = Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::u8, device);
    out.copy_from_host(values.data());
    return out;
}

}  // namespace

ResidentImages::ResidentImages(const Device& device,
                               const std::shared_ptr<const ImageDataset>& images,
                               const Schema& schema, const LoaderOptions& options,
                               const FeedDepth& depth)
    : device_(device),
      schema_(schema),
      preparer_(device, schema, options.sampler.seed),
      pinned_(depth.per_step) {
    const UseScope use(MemoryUse::workspace);
    pixels_ = on_device(images->images().pixels, device);
    labels_ = on_device(images->images().labels, device);
}

DeviceBatch ResidentImages::upload(const Batch& batch) {
    DeviceBatch out = empty_batch(device_, schema_, batch.rows());
    fill(batch, out);
    return out;
}

void ResidentImages::fill(const Batch& batch, const DeviceBatch& to) {
    const std::int64_t rows = batch.rows();
    const auto bytes = static_cast<std::size_t>(rows) * sizeof(std::int64_t);
    std::byte* pinned = pinned_.next(bytes);
    std::memcpy(pinned, batch.indices.data(), bytes);
    const Tensor indices = Tensor::empty({rows}, DType::i64, device_);
    kernels::cuda::copy_to_device(indices.data(), pinned, bytes, current_stream());
    pinned_.given(current_stream());
    preparer_.prepare(
        to[0], to[1].array(),
        {pixels_.data_as<std::uint8_t>(), labels_.data_as<std::uint8_t>(), indices.array()}, batch);
}

}  // namespace engine
