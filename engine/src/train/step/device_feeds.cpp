#include "train/step/device_feeds.h"

#include <algorithm>
#include <cstring>

#include "data/image/image_transforms.h"
#include "kernels/device.h"
#include "tensor/layout.h"
#include "tensor/philox.h"
#include "train/step/step_marks.h"

namespace engine {
namespace {

Tensor on_device(const std::vector<float>& values, const Device& device) {
    const Tensor out =
        Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::f32, device);
    out.copy_from_host(values.data());
    return out;
}

/// Fields start on a cache line of the pinned buffer.
std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

/// The beginning of a block of bytes as a tensor of this shape.
Tensor field_view(const Tensor& block, const BatchField& field, Layout layout) {
    Tensor out = block.detach();
    out.impl()->shape = field.shape;
    out.impl()->strides = layout == Layout::channels_last ? channels_last_strides(field.shape)
                                                          : contiguous_strides(field.shape);
    out.impl()->dtype = field.dtype;
    out.impl()->is_view = false;
    return out;
}

bool has_room(const TensorList& blocks, const Batch& batch) {
    if (blocks.size() != batch.fields.size()) return false;
    for (std::size_t f = 0; f < blocks.size(); ++f) {
        if (blocks[f].bytes() < batch.fields[f].bytes.size()) return false;
    }
    return true;
}

Tensor on_device(const std::vector<std::uint8_t>& values, const Device& device) {
    const Tensor out = Tensor::empty({static_cast<std::int64_t>(values.size())}, DType::u8, device);
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

RingFeed::RingFeed(const Device& device, const Schema& schema, const FeedDepth& depth,
                   std::optional<std::int64_t> image_seed)
    : device_(device), schema_(schema), pinned_(depth.per_step) {
    const DeviceScope scope(device_);
    if (image_seed) preparer_.emplace(device, schema, *image_seed);
    // Two more than are held: one that the step before still reads, and one that is being copied.
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(depth.held + 2, 3));
    for (std::size_t i = 0; i < count; ++i) places_.push_back(std::make_unique<Place>());
    copies_ = kernels::cuda::make_stream();
}

RingFeed::~RingFeed() {
    try {  // the places' memory goes back to the compute stream: nothing may write it any more
        for (const auto& place : places_) wait_until_passed(place->copied);
    } catch (...) {  // the device has failed, and writes nothing
    }
    kernels::cuda::release(copies_);
}

/// The next place on the device, with room for the batch. Makes the copy stream wait until it may
/// write there.
RingFeed::Place& RingFeed::next_place(const Batch& batch) {
    Place& place = *places_[next_place_];
    next_place_ = (next_place_ + 1) % places_.size();
    if (!has_room(place.blocks, batch)) {
        // Memory given back belongs to the compute stream, but the copy stream may still write it.
        wait_until_passed(place.copied);
        const UseScope use(MemoryUse::workspace);
        place.blocks.clear();
        for (const BatchField& field : batch.fields)
            place.blocks.push_back(
                Tensor::empty({static_cast<std::int64_t>(field.bytes.size())}, DType::u8, device_));
        // A block may come back from the compute stream's earlier work: its copies start after it.
        place.used.record({});
    }
    place.used.hold(copies_);
    return place;
}

/// The fields as they travel.
DeviceBatch RingFeed::copied(const Batch& batch) {
    std::size_t total = 0;
    for (const BatchField& field : batch.fields) total += padded(field.bytes.size());
    std::byte* pinned = pinned_.next(total);
    Place& place = next_place(batch);
    DeviceBatch out{{}, batch.rows(), batch.samples, batch.share};
    for (std::size_t f = 0; f < batch.fields.size(); ++f) {
        const BatchField& field = batch.fields[f];
        std::memcpy(pinned, field.bytes.data(), field.bytes.size());
        kernels::cuda::copy_to_device(place.blocks[f].data(), pinned, field.bytes.size(), copies_);
        pinned += padded(field.bytes.size());
        place.blocks[f].bump_version();
        out.fields.push_back(
            field_view(place.blocks[f], field, layout_of_field(schema_.fields[f])));
    }
    pinned_.given(copies_);
    place.copied.record(copies_);
    place.copied.hold({});
    return out;
}

bool RingFeed::has_image_bytes(const DeviceBatch& batch) const {
    return preparer_ && batch[0].dtype() == DType::u8;
}

void RingFeed::prepare(const DeviceBatch& from, const Tensor& images, const Batch& batch) const {
    const kernels::Array no_labels{nullptr, DType::i64, 0}, no_indices = no_labels;
    preparer_->prepare(images, no_labels, {from[0].data_as<std::uint8_t>(), nullptr, no_indices},
                       batch);
}

DeviceBatch RingFeed::upload(const Batch& batch) {
    DeviceBatch out = copied(batch);
    if (!has_image_bytes(out)) return out;
    const FieldSpec& image = schema_.fields[0];
    const Tensor images = Tensor::empty(batch_shape(image, batch.rows()), image.dtype, device_,
                                        layout_of_field(image));
    prepare(out, images, batch);
    out.fields[0] = images;
    return out;
}

void RingFeed::fill(const Batch& batch, const DeviceBatch& to) {
    DeviceBatch from = copied(batch);
    if (has_image_bytes(from)) {
        prepare(from, to[0], batch);
        from.fields[0] = {};
    }
    copy_fields(from, to);
    used(from);
}

/// Known by the last field, which lies in its place also where the images were made of bytes.
void RingFeed::used(const DeviceBatch& batch) {
    for (const auto& place : places_) {
        if (!place->blocks.empty() && place->blocks.back().data() == batch.fields.back().data())
            place->used.record({});
    }
}

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
