#include "train/step/batch_feed.h"

#include "data/image/image_dataset.h"
#include "kernels/elementwise.h"
#include "tensor/cast.h"
#include "tensor/layout.h"
#include "tensor/memory/memory.h"
#include "tensor/transfer.h"
#include "train/step/device_feeds.h"

namespace engine {
namespace {

class HostFeed final : public BatchFeed {
public:
    explicit HostFeed(const Schema& schema) : schema_(schema) {}

    DeviceBatch upload(const Batch& batch) override {
        DeviceBatch out{{}, batch.rows(), batch.samples, batch.share};
        for (std::size_t f = 0; f < batch.fields.size(); ++f) {
            const BatchField& field = batch.fields[f];
            const Layout layout = layout_of_field(schema_.fields[f]);
            out.fields.push_back(Tensor::empty(field.shape, field.dtype, Device{}, layout));
            out.fields.back().copy_from_host(field.bytes.data());
        }
        return out;
    }

private:
    Schema schema_;
};

/// Rounded to y's type.
void copy_dense(const Tensor& y, const Tensor& x) {
    if (x.dtype() == y.dtype())
        copy_bytes(y.data(), x.data(), y.bytes(), y.device());
    else
        on(y.device(), kernels::cpu::cast, kernels::cuda::cast)(y.array(), x.array(),
                                                                current_stream());
}

}  // namespace

void BatchFeed::choose(LoaderOptions& options) const {
    options.indices_only = indices_only();
    options.image_bytes = image_bytes();
}

void copy_fields(const DeviceBatch& from, const DeviceBatch& to) {
    for (std::size_t f = 0; f < to.fields.size(); ++f) {
        const Tensor &x = from[f], &y = to[f];
        if (!x.defined()) continue;
        if (pixel_pitch(y) == 0) {
            copy_dense(y, x);
            continue;
        }
        const Tensor rounded = empty_like(x, y.dtype());
        copy_dense(rounded, x);
        copy_into(y, rounded);
    }
}

void BatchFeed::fill(const Batch& batch, const DeviceBatch& to) {
    const DeviceBatch from = upload(batch);
    copy_fields(from, to);
    used(from);
}

std::unique_ptr<BatchFeed> make_ring_feed(const Device& device, const Schema& schema,
                                          const FeedDepth& depth) {
    if (device.kind == Device::Kind::cpu) return std::make_unique<HostFeed>(schema);
    const DeviceScope scope(device);  // events belong to the device that they are made on
    return std::make_unique<RingFeed>(device, schema, depth);
}

std::unique_ptr<BatchFeed> make_feed(const Device& device, const DataPart& part,
                                     const Schema& schema, const LoaderOptions& options,
                                     const FeedDepth& depth) {
    if (device.kind == Device::Kind::cpu) return make_ring_feed(device, schema, depth);
    if (const auto images = std::dynamic_pointer_cast<const ImageDataset>(part.data);
        images && ImagePreparer::can_make(schema) &&
        images->images().pixels.size() <= memory_limit(device) / 8) {
        const DeviceScope scope(device);
        return std::make_unique<ResidentImages>(device, images, schema, options, depth);
    }
    if (!part.data->gives_bytes() || !ImagePreparer::can_make(schema))
        return make_ring_feed(device, schema, depth);
    const DeviceScope scope(device);
    return std::make_unique<RingFeed>(device, schema, depth, options.sampler.seed);
}

}  // namespace engine
