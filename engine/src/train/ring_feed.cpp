#include "train/ring_feed.h"

#include <cstring>

#include "train/step_marks.h"

namespace engine {
namespace {

std::size_t input_bytes(const SampleShape& sample, std::int64_t size) {
    return static_cast<std::size_t>(size * sample.elements()) * sizeof(float);
}

std::size_t label_bytes(std::int64_t size) {
    return static_cast<std::size_t>(size) * sizeof(std::int64_t);
}

/// The first `size` rows, which lie together.
Tensor first_rows(const Tensor& x, std::int64_t size) {
    Tensor out = x.detach();
    out.impl()->shape[0] = size;
    out.impl()->is_view = false;
    return out;
}

}  // namespace

RingFeed::RingFeed(const Device& device, const SampleShape& sample, std::int64_t per_step)
    : device_(device), sample_(sample), pinned_(per_step) {
    const DeviceScope scope(device_);
    copies_ = kernels::cuda::make_stream();
}

RingFeed::~RingFeed() {
    try {  // the places' memory goes back to the compute stream: nothing may write it any more
        for (const Place& place : places_) wait_until_passed(place.copied);
    } catch (...) {  // the device has failed, and writes nothing
    }
    kernels::cuda::release(copies_);
}

/// The next place on the device, with room for so many samples, and the copy stream held back until
/// it may write there.
RingFeed::Place& RingFeed::next_place(std::int64_t size) {
    Place& place = places_[next_place_];
    next_place_ = (next_place_ + 1) % places_.size();
    if (place.batch.size < size) {
        // Memory given back belongs to the compute stream, but the copy stream may still write it.
        wait_until_passed(place.copied);
        const UseScope use(MemoryUse::workspace);
        place.batch = empty_batch(device_, sample_, size);
        // A block may come back from the compute stream's earlier work: its copies start after it.
        place.used.record({});
    }
    place.used.hold(copies_);
    return place;
}

DeviceBatch RingFeed::upload(const Batch& batch) {
    const std::int64_t size = batch.size();
    const std::size_t inputs = input_bytes(sample_, size), labels = label_bytes(size);
    std::byte* pinned = pinned_.next(inputs + labels);
    std::memcpy(pinned, batch.pixels.data(), inputs);
    std::memcpy(pinned + inputs, batch.labels.data(), labels);
    Place& place = next_place(size);
    kernels::cuda::copy_to_device(place.batch.inputs.data(), pinned, inputs, copies_);
    kernels::cuda::copy_to_device(place.batch.labels.data(), pinned + inputs, labels, copies_);
    pinned_.given(copies_);
    place.copied.record(copies_);
    place.copied.hold({});
    place.batch.inputs.bump_version();
    return {first_rows(place.batch.inputs, size), first_rows(place.batch.labels, size), size};
}

void RingFeed::used(const DeviceBatch& batch) {
    for (Place& place : places_) {
        if (place.batch.size > 0 && place.batch.inputs.data() == batch.inputs.data())
            place.used.record({});
    }
}

}  // namespace engine
